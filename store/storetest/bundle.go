package storetest

import (
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"

	"gnomon/store"
)

// ttl of the tombstones in every test.
const ttl = time.Hour

// epoch is when the clock of every test begins.
var epoch = time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)

// clock is a store's clock that a test moves.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// bundle is an empty store and its clock.
type bundle struct {
	store.Actions
	clock *clock
}

func setup(t *testing.T, open func(t *testing.T, o Options) store.Actions) *bundle {
	t.Helper()
	c := &clock{now: epoch}
	s := open(t, Options{Now: c.Now, TombstoneTTL: ttl})
	require.NotNil(t, s)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return &bundle{Actions: s, clock: c}
}

// put writes one row and says whether it applied.
func (b *bundle) put(t require.TestingT, row store.Row) bool {
	applied, err := b.PutActions(background, []store.Row{row})
	require.NoError(t, err)
	require.Len(t, applied, 1)
	return applied[0]
}

// putAll writes rows that must all apply.
func (b *bundle) putAll(t require.TestingT, rows ...store.Row) {
	applied, err := b.PutActions(background, rows)
	require.NoError(t, err)
	require.Len(t, applied, len(rows))
	for i, ok := range applied {
		require.True(t, ok, "row %d of %q", i, rows[i].Action.GetMeta().GetId())
	}
}

// insert writes the facade's first row and says whether it applied.
func (b *bundle) insert(t require.TestingT, row store.Row) bool {
	applied, err := b.InsertAction(background, row)
	require.NoError(t, err)
	return applied
}

// requireRow holds that this row stands, in every field.
func (b *bundle) requireRow(t require.TestingT, want store.Row) {
	got, err := b.GetAction(background, want.Action.GetMeta().GetId())
	require.NoError(t, err)
	requireEqual(t, want, got)
}

// requireNone holds that no row of this id stands.
func (b *bundle) requireNone(t require.TestingT, id string) {
	_, err := b.GetAction(background, id)
	require.ErrorIs(t, err, store.ErrNotFound)
}

// list gives the ids that a query finds, in order.
func (b *bundle) list(t require.TestingT, q store.ActionQuery) []string {
	if q.Limit == 0 {
		q.Limit = 1000
	}
	rows, err := b.ListActions(background, q)
	require.NoError(t, err)
	return ids(rows)
}

// requireEqual compares rows, protobufs by their fields and times by their moment.
// It asks the cheap way first: a diff costs a thousand times as much.
func requireEqual(t require.TestingT, want, got store.Row) {
	if want.Chain == got.Chain && want.Tombstone == got.Tombstone && want.DeletedBy == got.DeletedBy && proto.Equal(want.Action, got.Action) &&
		!newer(want.Revision, got.Revision) && !newer(got.Revision, want.Revision) {
		return
	}
	require.Fail(t, "rows differ, wanted (-), got (+)", cmp.Diff(want, got, protocmp.Transform()))
}
