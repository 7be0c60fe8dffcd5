package stages

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/structpb"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/store"
)

// put is one that was acknowledged.
type put struct {
	id      string
	n       float64
	version int64
	// sent and answered are when.
	sent, answered time.Time
}

// clients put entities and keep what they were answered.
type clients struct {
	*site

	mu      sync.Mutex
	all     []put
	repeats int
}

// put puts an entity for the nth time, again and again until that is acknowledged.
func (c *clients) put(ctx context.Context, entityType, id string, n int) error {
	content, err := structpb.NewStruct(map[string]any{"n": n, "s": n/3 + 1})
	if err != nil {
		return err
	}
	sent := time.Now()
	for {
		call, cancel := context.WithTimeout(ctx, 5*time.Second)
		e, err := c.entities.PutEntity(call, &gnomonv1.PutEntityRequest{
			Entity: &gnomonv1.Entity{Type: entityType, Id: id, Content: content}, RequestId: fmt.Sprintf("%s-%d", id, n),
		})
		cancel()
		c.mu.Lock()
		if err == nil {
			c.all = append(c.all, put{id, float64(n), e.GetVersion(), sent, time.Now()})
			c.mu.Unlock()
			return nil
		}
		c.repeats++
		c.mu.Unlock()
		pause := time.NewTimer(100 * time.Millisecond)
		select {
		case <-pause.C:
		case <-ctx.Done():
			return fmt.Errorf("put %d of %s: %w", n, id, err)
		}
	}
}

// counts are how many puts were acknowledged, and how many calls had to be repeated.
func (c *clients) counts() (acknowledged, repeats int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.all), c.repeats
}

// quiet waits until nobody waits for anything on these entities, and nothing is to be
// published.
func (c *clients) quiet(t *testing.T, entityType string, ids []string, within time.Duration) {
	t.Helper()
	rows := c.open(t)
	deadline := time.Now().Add(within)
	left := ids
	for len(left) > 0 {
		var busy []string
		for _, id := range left {
			r, err := c.entities.CheckEntity(t.Context(), &gnomonv1.CheckEntityRequest{Type: entityType, Id: id})
			if err != nil || len(r.GetPending())+len(r.GetTimers())+len(r.GetAsking()) > 0 {
				busy = append(busy, id)
			}
			if len(busy) > 0 && time.Now().After(deadline) {
				require.FailNow(t, "the entities did not become quiet", "%d, such as %s: %v (%v)", len(left), busy[0], r, err)
			}
		}
		if len(busy) == 0 {
			// Those whose workflows were not told have records that were not published.
			owed, err := rows.Forgotten(t.Context(), time.Now().Add(time.Hour), store.EntityKey{}, 1000)
			require.NoError(t, err)
			for _, one := range owed {
				busy = append(busy, one.Key.ID)
			}
		}
		if left = busy; len(left) > 0 {
			require.True(t, time.Now().Before(deadline), "%d entities are not quiet, such as %s", len(left), left[0])
			t.Logf("%d entities are not quiet yet", len(left))
			pause := time.NewTimer(time.Second)
			<-pause.C
		}
	}
}
