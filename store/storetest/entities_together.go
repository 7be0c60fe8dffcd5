package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/store"
)

var entityTogetherTests = []entityTest{
	{"of many that create one entity exactly one does", func(t *testing.T, b *entityBundle) {
		var created atomic.Int32
		together(t, func(client int) error {
			_, err := b.PutEntity(t.Context(), store.EntityPut{Entity: anEntity(offer, content("by", client)), CreateOnly: true, At: secs(1)})
			if err == nil {
				created.Add(1)
			}
			return unless(err, store.ErrEntityExists)
		})
		require.EqualValues(t, 1, created.Load())
		require.Len(t, b.records(t, offer), 1)
	}},
	// G-09: what many writers count by optimistic locking is counted, and recorded in order.
	{"many writers of one entity lose no update", func(t *testing.T, b *entityBundle) {
		b.put(t, offer, content("n", 0))
		together(t, func(int) error {
			for {
				e, err := b.GetEntity(t.Context(), offer)
				if err != nil {
					return err
				}
				_, err = b.PutEntity(t.Context(), store.EntityPut{Entity: anEntity(offer, content("n", numberOf(e)+1)), Version: e.GetVersion(), At: secs(2)})
				if !errors.Is(err, store.ErrVersion) {
					return err
				}
			}
		})
		require.Equal(t, writers, b.number(t, offer))
		records := b.records(t, offer)
		require.Len(t, records, writers+1)
		for i, r := range records {
			require.EqualValues(t, i+1, r.GetSequence())
			require.EqualValues(t, i+1, r.GetEntity().GetVersion())
			require.Equal(t, i, numberOf(r.GetEntity()))
		}
	}},
	{"one request_id of many at once puts once", func(t *testing.T, b *entityBundle) {
		together(t, func(int) error {
			result, err := b.PutEntity(t.Context(), store.EntityPut{Entity: anEntity(offer, content("a", 1)), RequestID: "r", Digest: "d", At: secs(1)})
			if err == nil && (!result.Changed || result.Entity.GetVersion() != 1) {
				return fmt.Errorf("it was told %v", result)
			}
			return err
		})
		require.Len(t, b.records(t, offer), 1)
	}},
	// G-18
	{"of many that replace one state exactly one does", func(t *testing.T, b *entityBundle) {
		b.put(t, offer, nil)
		var updated atomic.Int32
		var winner atomic.Int64
		together(t, func(client int) error {
			result, err := b.UpdateStageState(t.Context(), store.StateUpdate{Key: offer, Stage: "s", State: private(fmt.Sprint(client)), At: secs(1)})
			if err == nil && result.Updated {
				updated.Add(1)
				winner.Store(int64(client))
			}
			return err
		})
		require.EqualValues(t, 1, updated.Load())
		require.Equal(t, fmt.Sprint(winner.Load()), textOf(t, b.state(t, offer, "s")))
	}},
	// G-25
	{"many visits of one entity work one after another", func(t *testing.T, b *entityBundle) {
		b.put(t, offer, content("n", 0))
		var working atomic.Int32
		patiently(t, func(client int) error {
			v := visit(offer, fmt.Sprintf("s-%d", client%3), fmt.Sprint(client))
			begun, err := b.BeginVisit(t.Context(), v)
			if err != nil {
				return err
			}
			if working.Add(1) != 1 {
				return errors.New("two had the turn")
			}
			c := commitOf(v, begun)
			c.Content = anEntity(offer, content("n", numberOf(begun.Entity)+1))
			c.State = private(fmt.Sprint(client))
			working.Add(-1)
			_, err = b.CommitVisit(t.Context(), c)
			return err
		})
		require.Equal(t, writers, b.number(t, offer))
		require.EqualValues(t, writers+1, b.entity(t, offer).GetVersion())
	}},
	{"one commit of many attempts at once is made once", func(t *testing.T, b *entityBundle) {
		b.put(t, offer, content("n", 0))
		v := visit(offer, "s", "v")
		c := commitOf(v, b.begin(t, v))
		c.Content = anEntity(offer, content("n", 1))
		together(t, func(int) error {
			result, err := b.CommitVisit(t.Context(), c)
			if err == nil && result.GetVersion() != 2 {
				return fmt.Errorf("it was told %v", result)
			}
			return err
		})
		require.Len(t, b.records(t, offer), 2)
	}},
	// G-33
	{"slots are never more than the limit, though holders come, go and die", func(t *testing.T, b *entityBundle) {
		const limit = 5
		var holding, taken atomic.Int32
		for round := range 2 {
			patiently(t, func(client int) error {
				holder := fmt.Sprint(client)
				err := b.TakeSlot(t.Context(), store.SlotTake{Stage: "s", Holder: holder, Limit: limit, At: secs(round), Until: secs(1000)})
				if err != nil {
					return err
				}
				if holding.Add(1) > limit {
					return errors.New("more hold a slot than there are")
				}
				taken.Add(1)
				holding.Add(-1)
				return b.ReleaseSlot(t.Context(), "s", holder)
			})
		}
		require.EqualValues(t, 2*writers, taken.Load())
		// All die at once: when their time is up, others have all of them, and no more.
		var got atomic.Int32
		take := func(second int) {
			got.Store(0)
			together(t, func(client int) error {
				err := b.TakeSlot(t.Context(), store.SlotTake{
					Stage: "s", Holder: fmt.Sprintf("%d-%d", second, client), Limit: limit, At: secs(second), Until: secs(second + 10),
				})
				if err == nil {
					got.Add(1)
				}
				return unless(err, store.ErrBusy)
			})
		}
		take(0)
		require.EqualValues(t, limit, got.Load())
		take(9)
		require.Zero(t, got.Load())
		take(10)
		require.EqualValues(t, limit, got.Load())
	}},
	// G-32
	{"calls are granted within the rate, though many ask whose clocks differ", func(t *testing.T, b *entityBundle) {
		const limit = 3
		var mu sync.Mutex
		var all []time.Time
		for round := range 3 {
			together(t, func(client int) error {
				at, err := b.TakeToken(t.Context(), store.TokenTake{
					Stage: "s", Name: fmt.Sprintf("%d-%d", round, client), Limit: limit, Span: 6 * time.Second,
					At: secs(100 + 10*round - client%3), Ahead: 15 * time.Second,
				})
				if err == nil {
					mu.Lock()
					defer mu.Unlock()
					all = append(all, at)
				}
				return unless(err, store.ErrBusy)
			})
		}
		slices.SortFunc(all, time.Time.Compare)
		require.Greater(t, len(all), 2*limit)
		for i := limit; i < len(all); i++ {
			require.GreaterOrEqual(t, all[i].Sub(all[i-limit]), 6*time.Second, "%v", all)
		}
	}},
	{"of many writers of a queue the newest stands", func(t *testing.T, b *entityBundle) {
		together(t, func(client int) error {
			return b.PutQueue(t.Context(), store.QueueWrite{
				Key: offer, Revision: at(uint64(client + 1)), Entries: []store.QueueEntry{{Stage: fmt.Sprintf("s-%d", client%2), EnqueueTime: secs(client)}},
			})
		})
		requireQueue(t, b, []store.QueueEntry{{Key: offer, Stage: "s-1", EnqueueTime: secs(writers - 1)}}, store.QueueQuery{Stage: "s-1", Limit: 5})
		requireQueue(t, b, nil, store.QueueQuery{Stage: "s-0", Limit: 5})
	}},
	{"many entities do not disturb one another", func(t *testing.T, b *entityBundle) {
		together(t, func(client int) error {
			key := store.EntityKey{Type: "offer", ID: fmt.Sprint(client)}
			b.put(t, key, content("n", client))
			v := visit(key, "s", "v")
			c := commitOf(v, b.begin(t, v))
			c.State = private(fmt.Sprint(client))
			b.commit(t, c)
			return b.Published(t.Context(), key, 1)
		})
		page, err := b.ListEntities(t.Context(), store.EntityQuery{Type: "offer", Limit: 1000})
		require.NoError(t, err)
		require.Len(t, page, writers)
		for client := range writers {
			key := store.EntityKey{Type: "offer", ID: fmt.Sprint(client)}
			require.Equal(t, fmt.Sprint(client), textOf(t, b.state(t, key, "s")))
			require.Len(t, b.records(t, key), 1)
		}
	}},
}

// patiently runs f once for each client at the same moment, and again while it is busy,
// until one fails.
func patiently(t *testing.T, f func(client int) error) {
	t.Helper()
	var failed atomic.Bool
	together(t, func(client int) error {
		for {
			err := f(client)
			if !errors.Is(err, store.ErrBusy) || failed.Load() {
				failed.Store(failed.Load() || err != nil)
				return err
			}
			time.Sleep(time.Millisecond) // nothing tells when it is free
		}
	})
}

// unless forgives an answer.
func unless(err, answer error) error {
	if errors.Is(err, answer) {
		return nil
	}
	return err
}

// entityCalls is every method that takes a context.
func entityCalls(s store.Entities) map[string]func(context.Context) error {
	v := visit(offer, "s", "v")
	begun := store.VisitBegun{Entity: &gnomonv1.Entity{Version: 1}}
	only := func(_ any, err error) error { return err }
	return map[string]func(context.Context) error{
		"PutEntity": func(ctx context.Context) error {
			return only(s.PutEntity(ctx, store.EntityPut{Entity: anEntity(offer, content("a", 2)), RequestID: "r"}))
		},
		"GetEntity": func(ctx context.Context) error { return only(s.GetEntity(ctx, offer)) },
		"ListEntities": func(ctx context.Context) error {
			return only(s.ListEntities(ctx, store.EntityQuery{Type: "offer", Limit: 1}))
		},
		"CountEntities": func(ctx context.Context) error { return only(s.CountEntities(ctx, "offer")) },
		"DeleteEntity":  func(ctx context.Context) error { return only(s.DeleteEntity(ctx, offer, 0, epoch)) },
		"GetStageState": func(ctx context.Context) error { return only(s.GetStageState(ctx, offer, "s")) },
		"UpdateStageState": func(ctx context.Context) error {
			return only(s.UpdateStageState(ctx, store.StateUpdate{Key: offer, Stage: "s", State: private("x")}))
		},
		"BeginVisit":  func(ctx context.Context) error { return only(s.BeginVisit(ctx, v)) },
		"KeepTurn":    func(ctx context.Context) error { return s.KeepTurn(ctx, offer, v.Holder, secs(99)) },
		"EndVisit":    func(ctx context.Context) error { return s.EndVisit(ctx, offer, v.Holder) },
		"CommitVisit": func(ctx context.Context) error { return only(s.CommitVisit(ctx, commitOf(v, begun))) },
		"TakeSlot": func(ctx context.Context) error {
			return s.TakeSlot(ctx, store.SlotTake{Stage: "s", Holder: "h", Limit: 1})
		},
		"TakeToken": func(ctx context.Context) error {
			return only(s.TakeToken(ctx, store.TokenTake{Stage: "s", Name: "n", Limit: 1, Span: time.Second}))
		},
		"ReleaseSlot": func(ctx context.Context) error { return s.ReleaseSlot(ctx, "s", "h") },
		"Unpublished": func(ctx context.Context) error { return only(s.Unpublished(ctx, offer, 1)) },
		"Published":   func(ctx context.Context) error { return s.Published(ctx, offer, 1) },
		"Forgotten":   func(ctx context.Context) error { return only(s.Forgotten(ctx, secs(9), store.EntityKey{}, 1)) },
		"PutQueue": func(ctx context.Context) error {
			return s.PutQueue(ctx, store.QueueWrite{Key: offer, Revision: at(1), Entries: []store.QueueEntry{{Stage: "s"}}})
		},
		"PeekQueue":           func(ctx context.Context) error { return only(s.PeekQueue(ctx, store.QueueQuery{Stage: "s", Limit: 1})) },
		"PutRewalk":           func(ctx context.Context) error { return s.PutRewalk(ctx, &gnomonv1.Rewalk{Stage: "s"}, at(9)) },
		"GetRewalk":           func(ctx context.Context) error { return only(s.GetRewalk(ctx, "s")) },
		"PurgeEntityRequests": func(ctx context.Context) error { return only(s.PurgeEntityRequests(ctx, secs(99), 1)) },
	}
}

var entityLifecycleTests = []entityTest{
	{"a context that has ended does nothing", func(t *testing.T, b *entityBundle) {
		b.put(t, offer, content("a", 1))
		b.set(t, offer, "s", "mine", 0)
		b.begin(t, visit(offer, "s", "v"))
		require.NoError(t, b.PutRewalk(t.Context(), &gnomonv1.Rewalk{Stage: "s", Walked: 7}, at(1)))
		before := proto.CloneOf(b.entity(t, offer))
		cancelled, cancel := context.WithCancel(t.Context())
		cancel()
		late, done := context.WithDeadline(t.Context(), time.Unix(1, 0))
		defer done()
		for name, call := range entityCalls(b) {
			require.ErrorIs(t, call(cancelled), context.Canceled, name)
			require.ErrorIs(t, call(late), context.DeadlineExceeded, name)
		}
		requireProto(t, before, b.entity(t, offer))
		require.Equal(t, "mine", textOf(t, b.state(t, offer, "s")))
		require.Len(t, b.records(t, offer), 2)
		require.NoError(t, b.KeepTurn(t.Context(), offer, "v/1", secs(20)))
	}},
	{"a closed store refuses every call", func(t *testing.T, b *entityBundle) {
		b.put(t, offer, nil)
		require.NoError(t, b.Close())
		for name, call := range entityCalls(b) {
			require.Error(t, call(t.Context()), name)
		}
	}},
}
