package sqlite_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/structpb"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/store"
	"gnomon/store/sqlite"
)

// BenchmarkVisits makes visits of many entities at once, each a beginning and a commit of
// content and record.
func BenchmarkVisits(b *testing.B) {
	s, err := sqlite.Open(b.Context(), sqlite.Config{Path: b.TempDir() + "/gnomon.db", Migrate: true})
	require.NoError(b, err)
	defer func() { require.NoError(b, s.Close()) }()
	var clients atomic.Int64
	b.SetParallelism(8)
	b.RunParallel(func(pb *testing.PB) {
		key := store.EntityKey{Type: "offer", ID: fmt.Sprint(clients.Add(1))}
		content := func(n float64) *gnomonv1.Entity {
			return &gnomonv1.Entity{Type: key.Type, Id: key.ID, Content: &structpb.Struct{Fields: map[string]*structpb.Value{"n": structpb.NewNumberValue(n)}}}
		}
		_, err := s.PutEntity(b.Context(), store.EntityPut{Entity: content(-1), At: time.Now()})
		require.NoError(b, err)
		for n := 0; pb.Next(); n++ {
			id, at := fmt.Sprint(n), time.Now()
			begun, err := s.BeginVisit(b.Context(), store.VisitBegin{Key: key, Stage: "s", VisitID: id, Holder: id, At: at, Until: at.Add(time.Minute)})
			require.NoError(b, err)
			_, err = s.CommitVisit(b.Context(), store.VisitCommit{
				Key: key, Stage: "s", VisitID: id, Holder: id, EntityVersion: begun.Entity.GetVersion(), Content: content(float64(n)), At: at,
			})
			require.NoError(b, err)
		}
	})
}
