package sqlite

import (
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"gnomon/store"
)

// BenchmarkPutActions shows the grouping: transactions/write falls as clients are
// added, from 1 with one client.
func BenchmarkPutActions(b *testing.B) {
	for _, relaxed := range []bool{false, true} {
		for _, n := range []int{1, 16, 64} {
			b.Run(fmt.Sprintf("relaxed=%t/clients=%d", relaxed, n), func(b *testing.B) {
				s, err := Open(b.Context(), Config{
					Path: filepath.Join(b.TempDir(), "gnomon.db"), Migrate: true, RelaxedSync: relaxed,
				})
				require.NoError(b, err)
				defer func() { require.NoError(b, s.Close()) }()
				var next atomic.Int64
				b.ReportAllocs()
				b.ResetTimer()
				var wg sync.WaitGroup
				for range n {
					wg.Go(func() {
						for i := next.Add(1); i <= int64(b.N); i = next.Add(1) {
							_, err := s.PutActions(b.Context(), []store.Row{testRow(fmt.Sprintf("row-%d", i))})
							if err != nil {
								b.Error(err)
							}
						}
					})
				}
				wg.Wait()
				b.StopTimer()
				stats := s.Stats()
				b.ReportMetric(float64(stats.Transactions)/float64(stats.Writes), "transactions/write")
			})
		}
	}
}
