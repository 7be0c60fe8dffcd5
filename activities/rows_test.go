package activities_test

import (
	"context"
	"errors"
	"sync"

	"gnomon/store"
)

// rows is a store of actions in memory that remembers the calls and can be down or
// slow.
type rows struct {
	store.Actions

	mu      sync.Mutex
	byID    map[string]store.Row
	calls   []int // rows in each call that got through
	down    bool
	refused int // calls that did not
	// hold, if set, is received from before each call is done.
	hold chan struct{}
}

func newRows() *rows { return &rows{byID: map[string]store.Row{}} }

var errDown = errors.New("the store is down")

// PutActions implements store.Actions.
func (r *rows) PutActions(ctx context.Context, rows []store.Row) ([]bool, error) {
	if r.hold != nil {
		select {
		case <-r.hold:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.down {
		r.refused++
		return nil, errDown
	}
	r.calls = append(r.calls, len(rows))
	applied := make([]bool, len(rows))
	for i, row := range rows {
		id := row.Action.GetMeta().GetId()
		if old, ok := r.byID[id]; !ok || old.Revision.Encode() < row.Revision.Encode() {
			r.byID[id], applied[i] = row, true
		}
	}
	return applied, nil
}

func (r *rows) get(id string) (store.Row, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	row, ok := r.byID[id]
	return row, ok
}

func (r *rows) set(down bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.down = down
}
