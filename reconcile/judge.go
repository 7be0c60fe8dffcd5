package reconcile

import (
	"context"
	"errors"
	"fmt"

	"gnomon/store"
)

// repairs bounds how often one row is repaired in one round, should others write
// meanwhile.
const repairs = 3

// suspect is an action whose first look found something wrong.
type suspect struct {
	id    string
	first look
	f     Finding
}

// inspect looks at an action for the first time. What is right, or can be said at
// once, is counted; the rest is suspect.
func (r *round) inspect(ctx context.Context, id string) (*suspect, error) {
	l, err := r.look(ctx, id)
	if err != nil {
		return nil, err
	}
	f := Decide(l.row, l.workflow, r.settled())
	switch {
	case f.Kind == Right:
		return nil, nil //nolint:nilnil // nothing is suspect
	case !f.Wrong():
		r.note(id, f, false)
		return nil, nil //nolint:nilnil // nothing is suspect
	}
	return &suspect{id, l, f}, nil
}

// confirm looks at a suspect again. It is wrong if it still is, in the same way.
func (r *round) confirm(ctx context.Context, s *suspect) error {
	second, err := r.look(ctx, s.id)
	if err != nil {
		return err
	}
	f := Decide(second.row, second.workflow, r.settled())
	if !second.same(s.first) || f.Kind != s.f.Kind {
		r.note(s.id, Finding{Kind: Moving}, false)
		return nil
	}
	switch {
	case f.Kind == Orphaned && r.MaxOrphans >= 0:
		r.orphan(s.id)
		return nil
	case r.DryRun:
		r.note(s.id, f, false)
		return nil
	}
	return r.repair(ctx, s.id, f, second)
}

// repair puts the row that should stand and looks again, until all is right. A row
// that the store does not take, while it takes others, does not stop the round.
func (r *round) repair(ctx context.Context, id string, f Finding, l look) error {
	found, why := f, ""
	for range repairs {
		row := Repair(found, l.row, l.workflow, r.Now())
		_, failed := r.Store.PutActions(ctx, []store.Row{row})
		if failed != nil {
			if err := r.Store.Ping(ctx); err != nil {
				return fmt.Errorf("the row of %s cannot be repaired: %w", id, errors.Join(failed, err))
			}
		}
		var err error
		if l, err = r.look(ctx, id); err != nil {
			return err
		}
		if found = Decide(l.row, l.workflow, r.settled()); !found.Wrong() {
			r.note(id, f, true)
			return nil
		}
		why = "still " + found.Why
		if failed != nil {
			why = failed.Error()
		}
	}
	f.Why += fmt.Sprintf("; tried %d times to repair it: %s", repairs, why)
	r.note(id, f, false)
	return nil
}

// bury repairs the orphans of the round, unless there are suspiciously many.
func (r *round) bury(ctx context.Context) error {
	held := r.MaxOrphans >= 0 && r.cursor.OrphanCount > int64(r.MaxOrphans)
	const why = "the row is alive and Temporal knows no workflow of it"
	if held || r.DryRun {
		f := Finding{Orphaned, why}
		if held {
			f.Why += fmt.Sprintf("; left as there are more than %d of these: is this the right namespace?", r.MaxOrphans)
		}
		for _, id := range r.cursor.Orphans {
			r.note(id, f, false)
		}
		if more := r.cursor.OrphanCount - int64(len(r.cursor.Orphans)); more > 0 {
			r.cursor.Report.Found[Orphaned] += more
		}
		return nil
	}
	for len(r.cursor.Orphans) > 0 {
		id := r.cursor.Orphans[0]
		if err := r.limit.Wait(ctx); err != nil {
			return err
		}
		l, err := r.look(ctx, id)
		if err != nil {
			return err
		}
		if f := Decide(l.row, l.workflow, r.settled()); f.Kind != Orphaned {
			r.note(id, Finding{Kind: Moving}, false)
		} else if err := r.repair(ctx, id, f, l); err != nil {
			return err
		}
		r.cursor.Orphans = r.cursor.Orphans[1:]
		r.cursor.OrphanCount--
	}
	return nil
}
