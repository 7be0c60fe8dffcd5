package metrics

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/store"
	"gnomon/store/faulty"
	"gnomon/store/sqlite"
)

// rows is a store that can be told to fail, and the same measured.
func rows(t *testing.T, r *Registry) (*faulty.Store, store.Store) {
	t.Helper()
	s, err := sqlite.Open(t.Context(), sqlite.Config{Path: sqlite.MemoryPath, Migrate: true})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	f := faulty.New(s, 1)
	return f, r.Store(f)
}

// Issue 4, 7: store errors by operation and class, and latency.
func TestStoreIsMeasured(t *testing.T) {
	t.Parallel()
	r, _, _ := registry(t)
	faults, s := rows(t, r)
	_, err := s.PutActions(t.Context(), []store.Row{{Action: &gnomonv1.ScheduledAction{Meta: &gnomonv1.Meta{Id: "a"}}}})
	require.NoError(t, err)
	_, err = s.GetAction(t.Context(), "b")
	require.ErrorIs(t, err, store.ErrNotFound)
	require.InDelta(t, 1, value(t, r, "gnomon_store_seconds", "operation", "PutActions"), 0)
	require.InDelta(t, 1, value(t, r, "gnomon_store_seconds", "operation", "GetAction"), 0)
	require.Zero(t, value(t, r, "gnomon_store_errors_total", "operation", "GetAction", "class", "other"), "not found is an answer")

	faults.Set(faulty.Faults{Fail: 1})
	_, err = s.ListActions(t.Context(), store.ActionQuery{Limit: 1})
	require.ErrorIs(t, err, faulty.ErrInjected)
	require.InDelta(t, 1, value(t, r, "gnomon_store_errors_total", "operation", "ListActions", "class", "other"), 0)
	faults.Set(faulty.Faults{})

	gone, cancel := context.WithCancel(t.Context())
	cancel()
	require.Error(t, s.Ping(gone))
	require.InDelta(t, 1, value(t, r, "gnomon_store_errors_total", "operation", "Ping", "class", "canceled"), 0)
	late, cancel := context.WithTimeout(t.Context(), 0)
	defer cancel()
	_, err = s.PurgeActions(late, 1)
	require.Error(t, err)
	require.InDelta(t, 1, value(t, r, "gnomon_store_errors_total", "operation", "PurgeActions", "class", "timeout"), 0)
}

// Whatever a store says of itself is its class.
func TestClassified(t *testing.T) {
	t.Parallel()
	plain := errors.New("full")
	err := store.Classify(plain, store.ClassDisk)
	require.ErrorIs(t, err, plain)
	require.EqualError(t, err, "full")
	require.Equal(t, store.ClassDisk, store.ClassOf(err))
	require.NoError(t, store.Classify(nil, store.ClassDisk))
	require.Empty(t, store.ClassOf(nil))
	require.Equal(t, store.ClassOther, store.ClassOf(plain))
	require.Contains(t, store.Classes(), store.ClassOf(err))
}
