package sqlite

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/timestamppb"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/store"
)

// BenchmarkListActions reads pages of 100 among rows on disk, each from a random due time
// (issue 8). GNOMON_TEST_ROWS is how many there are, 20,000 unless told.
func BenchmarkListActions(b *testing.B) {
	rows := 20_000
	if text := os.Getenv("GNOMON_TEST_ROWS"); text != "" {
		var err error
		rows, err = strconv.Atoi(text)
		require.NoError(b, err)
	}
	epoch := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	s, err := Open(b.Context(), Config{Path: filepath.Join(b.TempDir(), "gnomon.db"), Migrate: true, RelaxedSync: true})
	require.NoError(b, err)
	defer func() { require.NoError(b, s.Close()) }()
	const part = 1000
	for done := 0; done < rows; done += part {
		batch := make([]store.Row, min(part, rows-done))
		for i := range batch {
			n := done + i
			batch[i] = testRow(fmt.Sprintf("row-%d", n))
			batch[i].Action.Status = &gnomonv1.Status{
				State: gnomonv1.Status_SCHEDULED, ScheduledAt: timestamppb.New(epoch.Add(time.Duration(n) * time.Millisecond)),
			}
		}
		_, err := s.PutActions(b.Context(), batch)
		require.NoError(b, err)
	}
	b.ReportAllocs()
	for b.Loop() {
		from := epoch.Add(time.Duration(rand.IntN(rows-200)) * time.Millisecond)
		page, err := s.ListActions(b.Context(), store.ActionQuery{
			States: []gnomonv1.Status_State{gnomonv1.Status_SCHEDULED}, DueFrom: from, Order: store.ByScheduledAt, Limit: 101,
		})
		require.NoError(b, err)
		require.Len(b, page, 101)
	}
}
