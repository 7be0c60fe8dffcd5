package storetest

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/store"
)

// RunEntityFaults has each call that writes what belongs to an entity meet a fault at
// each of its statements. plant has the n-th statement from then on meet it, counted from
// 1, and gives the context of the call; heal ends that and says whether there was such a
// statement.
//
// After the fault all of the call was done or nothing, and a call that failed and is made
// again is done once (G-08, G-11). A call that did not fail was done, and says so.
//
// It says at how many statements there was a fault, and how many calls failed that were
// done. Only those calls are made whose names begin with one of these, if any is given.
func RunEntityFaults(t *testing.T, s store.Store, plant func(n int) (ctx context.Context, heal func() bool), only ...string) (planted, lost int) {
	t.Helper()
	b := &entityBundle{Store: s}
	for _, c := range interrupted {
		if len(only) > 0 && !slices.ContainsFunc(only, func(prefix string) bool { return strings.HasPrefix(c.name, prefix) }) {
			continue
		}
		clean := store.EntityKey{Type: "faults", ID: c.name}
		c.prepare(t, b, clean)
		before := b.snapshot(t, clean)
		told, err := c.call(background, b, clean)
		require.NoError(t, err, c.name)
		require.True(t, told, c.name)
		after := b.snapshot(t, clean)
		require.NotEqual(t, before, after, "%s is to write something", c.name)
		for n := 1; ; n++ {
			key := store.EntityKey{Type: "faults", ID: fmt.Sprintf("%s-%d", c.name, n)}
			c.prepare(t, b, key)
			require.Equal(t, before, b.snapshot(t, key), c.name)
			ctx, heal := plant(n)
			told, err := c.call(ctx, b, key)
			if !heal() {
				break
			}
			planted++
			stands := b.snapshot(t, key)
			done := stands == after
			if err == nil {
				require.True(t, told, "%s, statement %d: it succeeded and says otherwise", c.name, n)
				require.Equal(t, after, stands, "%s, statement %d", c.name, n)
				continue
			}
			if done {
				lost++
			} else {
				require.Equal(t, before, stands, "%s, statement %d: neither all nor nothing", c.name, n)
			}
			told, err = c.call(background, b, key)
			if done && c.afterwards != nil {
				err = unless(err, c.afterwards)
			}
			require.NoError(t, err, "%s, statement %d, again", c.name, n)
			require.True(t, told || done, "%s, statement %d: it was done and says otherwise", c.name, n)
			require.Equal(t, after, b.snapshot(t, key), "%s, statement %d, again", c.name, n)
		}
	}
	return planted, lost
}

// interruptedCall is one that is done once, though it may be made twice.
type interruptedCall struct {
	name    string
	prepare func(t *testing.T, b *entityBundle, key store.EntityKey)
	// call says whether it was told that it changed something.
	call func(ctx context.Context, b *entityBundle, key store.EntityKey) (told bool, err error)
	// afterwards is what it may answer if it was done before.
	afterwards error
}

// queueOf is a stage of which one entity only is in the queue; its slots are for it too.
func queueOf(key store.EntityKey) string { return "q-" + key.ID }

// snapshot is all that is seen of an entity, but for its id and the ids of commits that
// the store chose.
func (b *entityBundle) snapshot(t *testing.T, key store.EntityKey) string {
	t.Helper()
	var text strings.Builder
	message := func(name string, m proto.Message) {
		raw, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
		require.NoError(t, err)
		fmt.Fprintf(&text, "%s %s\n", name, hex.EncodeToString(raw))
	}
	e, err := b.GetEntity(background, key)
	require.NoError(t, unless(err, store.ErrNotFound))
	if e != nil {
		e.Id = ""
		message("entity", e)
		for _, stage := range modelStages {
			message(stage, b.state(t, key, stage))
		}
	}
	for _, r := range b.records(t, key) {
		r.Entity.Id = ""
		if !strings.HasPrefix(r.GetCommitId(), "v") {
			r.CommitId = ""
		}
		message("record", r)
	}
	for _, holder := range []string{"v/1", "v2/1"} {
		err := b.KeepTurn(background, key, holder, epoch) // no longer than it is
		require.NoError(t, unless(err, store.ErrTurnLost))
		fmt.Fprintln(&text, holder, "has the turn:", err == nil)
	}
	for _, stage := range []string{queueOf(key), queueOf(key) + "/2"} {
		entries, err := b.PeekQueue(background, store.QueueQuery{Stage: stage, Limit: 10})
		require.NoError(t, err)
		for _, entry := range entries {
			fmt.Fprintln(&text, "queued", entry.EnqueueTime.UTC(), entry.Background)
		}
	}
	walk, err := b.GetRewalk(background, queueOf(key))
	require.NoError(t, unless(err, store.ErrNotFound))
	fmt.Fprintln(&text, "walked", walk.GetWalked())
	// One slot: who finds it free gives it back.
	err = b.TakeSlot(background, store.SlotTake{Stage: queueOf(key), Holder: "probe", Limit: 1, At: secs(5), Until: secs(6)})
	require.NoError(t, unless(err, store.ErrBusy))
	fmt.Fprintln(&text, "the slot is free:", err == nil)
	require.NoError(t, b.ReleaseSlot(background, queueOf(key), "probe"))
	// Asked for a moment that is over, so that none is taken.
	at, err := b.TakeToken(background, store.TokenTake{Stage: queueOf(key), Name: "probe", Limit: 1, Span: 10 * time.Second, At: secs(3), Ahead: -time.Second})
	require.ErrorIs(t, err, store.ErrBusy)
	fmt.Fprintln(&text, "a call is granted at", at.Sub(secs(0)))
	_, err = b.PutEntity(background, store.EntityPut{Entity: anEntity(key, nil), RequestID: "r", Digest: "probe", Version: -1})
	fmt.Fprintln(&text, "the request_id is known:", errors.Is(err, store.ErrRequestReused))
	return text.String()
}

// visited prepares an entity with states, in whose visit v is.
func visited(t *testing.T, b *entityBundle, key store.EntityKey) {
	t.Helper()
	b.put(t, key, content("a", 1, "b", 1))
	b.set(t, key, "s", "mine", 0)
	b.set(t, key, "s2", "theirs", 0)
	b.begin(t, visit(key, "s", "v"))
}

// standing prepares an entity that nobody visits.
func standing(t *testing.T, b *entityBundle, key store.EntityKey) {
	t.Helper()
	visited(t, b, key)
	require.NoError(t, b.EndVisit(background, key, "v/1"))
}

// committing is a commit of v with changes.
func committing(change func(c *store.VisitCommit)) func(ctx context.Context, b *entityBundle, key store.EntityKey) (bool, error) {
	return func(ctx context.Context, b *entityBundle, key store.EntityKey) (bool, error) {
		c := commitOf(visit(key, "s", "v"), store.VisitBegun{Entity: &gnomonv1.Entity{Version: 1}, State: &gnomonv1.StageState{Version: 1}})
		change(&c)
		result, err := b.CommitVisit(ctx, c)
		return result.GetTimer() != nil, err
	}
}

func putting(p store.EntityPut) func(ctx context.Context, b *entityBundle, key store.EntityKey) (bool, error) {
	return func(ctx context.Context, b *entityBundle, key store.EntityKey) (bool, error) {
		p.Entity, p.At = anEntity(key, content("a", 2)), secs(3)
		result, err := b.PutEntity(ctx, p)
		return result.Changed, err
	}
}

// always are calls that tell nothing but an error.
func always(call func(ctx context.Context, b *entityBundle, key store.EntityKey) error) func(ctx context.Context, b *entityBundle, key store.EntityKey) (bool, error) {
	return func(ctx context.Context, b *entityBundle, key store.EntityKey) (bool, error) {
		return true, call(ctx, b, key)
	}
}

func nothing(*testing.T, *entityBundle, store.EntityKey) {}

var interrupted = []interruptedCall{
	{name: "put of a new entity", prepare: nothing, call: putting(store.EntityPut{})},
	{name: "put", prepare: standing, call: putting(store.EntityPut{})},
	{name: "conditional put", prepare: standing, call: putting(store.EntityPut{Version: 1}), afterwards: store.ErrVersion},
	{name: "put with a request_id", prepare: standing, call: putting(store.EntityPut{RequestID: "r", Digest: "d", Version: 1})},
	{name: "creation with a request_id", prepare: nothing, call: putting(store.EntityPut{RequestID: "r", Digest: "d", CreateOnly: true})},
	{name: "deletion", prepare: standing, afterwards: store.ErrNotFound, call: func(ctx context.Context, b *entityBundle, key store.EntityKey) (bool, error) {
		result, err := b.DeleteEntity(ctx, key, 1, secs(3))
		return result.Changed, err
	}},
	{name: "compare-and-set", prepare: standing, call: func(ctx context.Context, b *entityBundle, key store.EntityKey) (bool, error) {
		result, err := b.UpdateStageState(ctx, store.StateUpdate{Key: key, Stage: "s", State: private("new"), Version: 1, At: secs(3)})
		return result.Updated, err
	}},
	{name: "beginning", prepare: standing, call: func(ctx context.Context, b *entityBundle, key store.EntityKey) (bool, error) {
		begun, err := b.BeginVisit(ctx, visit(key, "s2", "v2"))
		return begun.State.GetVersion() == 1, err
	}},
	{name: "end of a visit", prepare: visited, call: always(func(ctx context.Context, b *entityBundle, key store.EntityKey) error {
		return b.EndVisit(ctx, key, "v/1")
	})},
	{name: "commit of all", prepare: visited, call: committing(func(c *store.VisitCommit) {
		c.Content, c.State = anEntity(c.Key, content("a", 2, "b", 1)), private("new")
	})},
	{name: "commit of content", prepare: visited, call: committing(func(c *store.VisitCommit) { c.Content = anEntity(c.Key, content("b", 1)) })},
	{name: "commit of a state", prepare: visited, call: committing(func(c *store.VisitCommit) { c.State = private("new") })},
	{name: "commit of nothing", prepare: visited, call: committing(func(*store.VisitCommit) {})},
	{name: "commit of a deletion", prepare: visited, call: committing(func(c *store.VisitCommit) { c.Delete = true })},
	{name: "publication", prepare: standing, call: always(func(ctx context.Context, b *entityBundle, key store.EntityKey) error {
		return b.Published(ctx, key, 2)
	})},
	{name: "queue", prepare: func(t *testing.T, b *entityBundle, key store.EntityKey) {
		t.Helper()
		require.NoError(t, b.PutQueue(background, store.QueueWrite{Key: key, Revision: at(1), Entries: []store.QueueEntry{
			{Stage: queueOf(key), EnqueueTime: secs(1)}, {Stage: queueOf(key) + "/3", EnqueueTime: secs(1)},
		}}))
	}, call: always(func(ctx context.Context, b *entityBundle, key store.EntityKey) error {
		return b.PutQueue(ctx, store.QueueWrite{Key: key, Revision: at(2), Entries: []store.QueueEntry{
			{Stage: queueOf(key), EnqueueTime: secs(2)}, {Stage: queueOf(key) + "/2", EnqueueTime: secs(3)},
		}})
	})},
	{name: "slot", prepare: nothing, call: always(func(ctx context.Context, b *entityBundle, key store.EntityKey) error {
		return b.TakeSlot(ctx, store.SlotTake{Stage: queueOf(key), Holder: "h", Limit: 1, At: secs(1), Until: secs(99)})
	})},
	{name: "token", prepare: nothing, call: always(func(ctx context.Context, b *entityBundle, key store.EntityKey) error {
		_, err := b.TakeToken(ctx, store.TokenTake{Stage: queueOf(key), Name: "h", Limit: 1, Span: 10 * time.Second, At: secs(1)})
		return err
	})},
	{name: "slot given back", prepare: func(t *testing.T, b *entityBundle, key store.EntityKey) {
		t.Helper()
		require.NoError(t, b.TakeSlot(background, store.SlotTake{Stage: queueOf(key), Holder: "h", Limit: 1, At: secs(1), Until: secs(99)}))
	}, call: always(func(ctx context.Context, b *entityBundle, key store.EntityKey) error {
		return b.ReleaseSlot(ctx, queueOf(key), "h")
	})},
	{name: "walk", prepare: nothing, call: always(func(ctx context.Context, b *entityBundle, key store.EntityKey) error {
		return b.PutRewalk(ctx, &gnomonv1.Rewalk{Stage: queueOf(key), Walked: 7}, at(1))
	})},
}
