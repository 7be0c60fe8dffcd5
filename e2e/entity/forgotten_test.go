package entity

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"
	"google.golang.org/protobuf/types/known/structpb"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/store"
)

// A put while Temporal is down is accepted, as is one whose facade dies between the store's
// commit and telling the workflow, which leaves what the second one here leaves: a worker
// finds both by their records in the outbox, and no change stays unseen. Nothing pending is
// reported lost: a check says that it cannot know.
func TestPutsThatNobodyWasToldOf(t *testing.T) {
	t.Parallel()
	price := pricing()
	s := openFacade(t, "127.0.0.1:1", stage("price", price, nil))
	require.EqualValues(t, 1, s.put("down", map[string]any{"model": "a4"}).GetVersion())
	_, err := s.rows.PutEntity(t.Context(), store.EntityPut{
		Entity: &gnomonv1.Entity{Type: s.kind, Id: "killed", Content: &structpb.Struct{}}, At: time.Now(),
	})
	require.NoError(t, err)
	_, err = s.calls.CheckEntity(t.Context(), &gnomonv1.CheckEntityRequest{Type: s.kind, Id: "down"})
	require.Error(t, err)
	require.Empty(t, price.seen("down"))

	s.temporal, err = client.DialContext(t.Context(), client.Options{HostPort: temporal.Address(), Logger: sdklog.NewStructuredLogger(quiet)})
	require.NoError(t, err)
	t.Cleanup(s.temporal.Close)
	s.serve()
	s.work()
	for _, id := range []string{"down", "killed"} {
		s.reaches(id, 2)
		s.settles(id)
		require.Equal(t, []int64{1}, price.seen(id))
		s.becomes("it is published", func() bool { return len(s.saved.of(s.kind+"/"+id)) == 2 })
	}
}
