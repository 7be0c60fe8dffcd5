package storetest

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"gnomon/store"
)

// ErrDown is what a Memory that is down answers.
var ErrDown = errors.New("the store is down")

// Memory keeps rows as a store does, for tests of those who write them; it does
// nothing else. It remembers the calls and can be down or slow.
type Memory struct {
	store.Actions

	// Hold, if set, is received from before each call is done.
	Hold chan struct{}
	// Takes, if set, is how long each call takes.
	Takes time.Duration

	mu      sync.Mutex
	byID    map[string]store.Row
	calls   []int
	refused int
	down    bool
}

// NewMemory is an empty one that is up.
func NewMemory() *Memory { return &Memory{byID: map[string]store.Row{}} }

// PutActions implements store.Actions.
func (m *Memory) PutActions(ctx context.Context, rows []store.Row) ([]bool, error) {
	if m.Hold != nil {
		select {
		case <-m.Hold:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if m.Takes > 0 {
		select {
		case <-time.After(m.Takes):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.down {
		m.refused++
		return nil, ErrDown
	}
	m.calls = append(m.calls, len(rows))
	applied := make([]bool, len(rows))
	for i, row := range rows {
		id := row.Action.GetMeta().GetId()
		if old, ok := m.byID[id]; !ok || old.Revision.Encode() < row.Revision.Encode() {
			m.byID[id], applied[i] = row, true
		}
	}
	return applied, nil
}

// Row is the row of an id.
func (m *Memory) Row(id string) (store.Row, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	row, ok := m.byID[id]
	return row, ok
}

// IDs are those of all rows, in order.
func (m *Memory) IDs() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Sorted(maps.Keys(m.byID))
}

// SetDown has calls refused from now on, or no longer.
func (m *Memory) SetDown(down bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.down = down
}

// Down says whether calls are refused.
func (m *Memory) Down() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.down
}

// Calls is how many rows were in each call that got through, and how many calls did not.
func (m *Memory) Calls() (through []int, refused int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.calls), m.refused
}
