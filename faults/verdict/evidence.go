// Package verdict is the judge of the fault tests. It reads only what the receiver, the
// clients and the store have on record (package record) and says which promises of
// faults.md were broken.
package verdict

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"gnomon/faults/record"
	"gnomon/receiver"
	"gnomon/store"
	"gnomon/store/sqlite"
)

// Evidence is all that is on record of one run.
type Evidence struct {
	Run        record.Run
	Calls      []record.Call
	Arrivals   []receiver.Arrival
	Visits     []record.Visit
	Injections []record.Injection
	Watched    []record.Row
	Finals     []record.Final
	// Rows is the store at the end, by id.
	Rows map[string]store.Row
}

// Load reads the records of a directory and its store.
func Load(ctx context.Context, dir string) (*Evidence, error) {
	e := &Evidence{}
	var err error
	if e.Run, err = record.ReadRun(dir); err != nil {
		return nil, err
	}
	for _, f := range []func() error{
		func() (err error) { e.Calls, err = record.Read[record.Call](dir, record.CallsFile); return },
		func() (err error) { e.Arrivals, err = record.Read[receiver.Arrival](dir, record.ArrivalsFile); return },
		func() (err error) { e.Visits, err = record.Read[record.Visit](dir, record.VisitsFile); return },
		func() (err error) {
			e.Injections, err = record.Read[record.Injection](dir, record.InjectionsFile)
			return
		},
		func() (err error) { e.Watched, err = record.Read[record.Row](dir, record.RowsFile); return },
		func() (err error) { e.Finals, err = record.Read[record.Final](dir, record.FinalsFile); return },
	} {
		if err := f(); err != nil {
			return nil, err
		}
	}
	rows, err := sqlite.Open(ctx, sqlite.Config{Path: filepath.Join(dir, record.StoreFile)})
	if err != nil {
		return nil, fmt.Errorf("the store: %w", err)
	}
	defer rows.Close()
	e.Rows, err = record.Table(ctx, rows)
	return e, err
}

// by groups things by a key, each group in its order.
func by[K comparable, T any](all []T, key func(T) K) map[K][]T {
	groups := map[K][]T{}
	for _, v := range all {
		groups[key(v)] = append(groups[key(v)], v)
	}
	return groups
}

// visitsByGUID are the visits of each Guid in the order they began in.
func (e *Evidence) visitsByGUID() map[string][]record.Visit {
	groups := by(e.Visits, func(v record.Visit) string { return v.GUID })
	for _, g := range groups {
		slices.SortFunc(g, func(a, b record.Visit) int { return a.Began.Compare(b.Began) })
	}
	return groups
}

// callsByID are the calls for each id in the order they were made in.
func (e *Evidence) callsByID() map[string][]record.Call {
	groups := by(e.Calls, func(c record.Call) string { return c.ID })
	for _, g := range groups {
		slices.SortFunc(g, func(a, b record.Call) int { return a.Call.Compare(b.Call) })
	}
	return groups
}

// specs are those that were accepted, by their Guid.
func (e *Evidence) specs() map[string]record.Spec {
	known := map[string]record.Spec{}
	for _, c := range e.Calls {
		if c.GUID != "" && c.Spec != nil {
			known[c.GUID] = *c.Spec
		}
	}
	return known
}

// finalByID is what Temporal says of each id.
func (e *Evidence) finalByID() map[string]record.Final {
	all := map[string]record.Final{}
	for _, f := range e.Finals {
		all[f.ID] = f
	}
	return all
}

// of are the injections of some kinds, in order.
func (e *Evidence) of(kinds ...string) []record.Injection {
	var some []record.Injection
	for _, i := range e.Injections {
		if slices.Contains(kinds, i.Kind) {
			some = append(some, i)
		}
	}
	slices.SortFunc(some, func(a, b record.Injection) int { return a.At.Compare(b.At) })
	return some
}

// within says whether an injection of some kinds fell into a stretch of time.
func (e *Evidence) within(from, to time.Time, kinds ...string) bool {
	return slices.ContainsFunc(e.of(kinds...), func(i record.Injection) bool {
		return !i.At.After(to) && !cmp.Or(i.Until, i.At).Before(from)
	})
}
