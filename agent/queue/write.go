package queue

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/playbook"
)

// What a change is refused for.
var (
	// ErrOther: the id is taken by other work.
	ErrOther = errors.New("the agent has another action of this id")
	// ErrNotFound: there is no record of this id.
	ErrNotFound = errors.New("the agent has no action of this id")
	// ErrFinished: the action has ended.
	ErrFinished = errors.New("the action has finished")
)

// ClosedError says that an action of this id has ended here and its record was purged, or
// that it was cancelled before it came. It must not run (again).
type ClosedError struct {
	// State is LOST or CANCELLED.
	State  gnomonv1.NodeAction_State
	Reason string
}

func (e *ClosedError) Error() string { return "the agent has closed this id: " + e.Reason }

// Reasons that the agent gives for CANCELLED.
const (
	ReasonInterrupted = "interrupted: the agent ended while it ran"
	ReasonCancelled   = "cancelled"
)

// Add puts an action into the queue, in the place that its create_time gives it (now,
// if it has none), and answers with what stands. The same work under the same id is
// taken once, however often it comes.
func (q *Queue) Add(ctx context.Context, a *gnomonv1.NodeAction, now time.Time) (*gnomonv1.NodeAction, error) {
	added := proto.CloneOf(a)
	added.State, added.Class, added.Reason = gnomonv1.NodeAction_NEW, playbook.Class(gnomonv1.NodeAction_NEW), ""
	added.StartTime, added.FinishTime, added.Result, added.PushTime = nil, nil, nil, nil
	added.CancelRequested = false
	if added.GetCreateTime() == nil {
		added.CreateTime = timestamppb.New(now)
	}
	stands := added
	err := q.within(ctx, func(tx *sql.Tx) error {
		have, err := get(ctx, tx, a.GetId())
		if err == nil {
			// Who gives it again does not know of what stands, though it may have fetched that
			// before: it is told once more.
			if err := put(ctx, tx, have); err != nil {
				return err
			}
			if stands = have; !playbook.SameWork(have, a) {
				return ErrOther
			}
			return nil
		}
		if !errors.Is(err, ErrNotFound) {
			return err
		}
		closed := &ClosedError{}
		err = tx.QueryRowContext(ctx, `SELECT state, reason FROM closed WHERE id = ?`, a.GetId()).Scan(&closed.State, &closed.Reason)
		if err == nil {
			return closed
		}
		if !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		return put(ctx, tx, added)
	})
	return stands, err
}

// Claim makes the oldest NEW action RUNNING and returns it, or nil: there is none, or
// one runs already.
func (q *Queue) Claim(ctx context.Context, now time.Time) (*gnomonv1.NodeAction, error) {
	var claimed *gnomonv1.NodeAction
	err := q.within(ctx, func(tx *sql.Tx) error {
		claimed = nil
		row := tx.QueryRowContext(ctx, `SELECT record FROM actions WHERE finished IS NULL
			AND NOT EXISTS (SELECT 1 FROM actions WHERE finished IS NULL AND state = ?)
			ORDER BY created, id LIMIT 1`, gnomonv1.NodeAction_RUNNING)
		a, err := scan(row)
		if errors.Is(err, ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		claimed = a
		a.State, a.Class = gnomonv1.NodeAction_RUNNING, playbook.Class(gnomonv1.NodeAction_RUNNING)
		a.StartTime = timestamppb.New(now)
		return put(ctx, tx, a)
	})
	return claimed, err
}

// Process notes what runs for a RUNNING action, so that it can be stopped if this agent
// dies and the next one finds it.
func (q *Queue) Process(ctx context.Context, id, process string) error {
	_, err := q.db.ExecContext(ctx, `UPDATE actions SET process = ? WHERE id = ?`, process, id)
	return err
}

// Finish ends a RUNNING action.
func (q *Queue) Finish(ctx context.Context, id string, state gnomonv1.NodeAction_State, reason string, result *gnomonv1.NodeAction_Result, now time.Time) error {
	return q.within(ctx, func(tx *sql.Tx) error {
		a, err := get(ctx, tx, id)
		if err != nil {
			return err
		}
		if playbook.Finished(a.GetState()) {
			return ErrFinished
		}
		finish(a, state, reason, now)
		a.Result = result
		return put(ctx, tx, a)
	})
}

// finish ends a record.
func finish(a *gnomonv1.NodeAction, state gnomonv1.NodeAction_State, reason string, now time.Time) {
	a.State, a.Class, a.Reason = state, playbook.Class(state), reason
	a.FinishTime, a.CancelRequested = timestamppb.New(now), false
}

// Cancel ends an action that waits, marks one that runs, which whoever runs it is to
// stop, and closes an id that is not known, so that it never begins if it comes after
// all.
func (q *Queue) Cancel(ctx context.Context, id, reason string, now time.Time) (*gnomonv1.NodeAction, error) {
	if reason == "" {
		reason = ReasonCancelled
	}
	var stands *gnomonv1.NodeAction
	err := q.within(ctx, func(tx *sql.Tx) error {
		a, err := get(ctx, tx, id)
		if errors.Is(err, ErrNotFound) {
			if err := closeID(ctx, tx, id, gnomonv1.NodeAction_CANCELLED, reason, now); err != nil {
				return err
			}
			return ErrNotFound
		}
		if err != nil {
			return err
		}
		stands = a
		switch {
		case playbook.Finished(a.GetState()):
			return ErrFinished
		case a.GetState() == gnomonv1.NodeAction_RUNNING:
			if a.GetCancelRequested() {
				return nil
			}
			a.CancelRequested, a.Reason = true, reason
		default:
			finish(a, gnomonv1.NodeAction_CANCELLED, reason, now)
		}
		return put(ctx, tx, a)
	})
	// An id that was closed is closed all the same.
	return stands, err
}

// Interrupted ends what a dead agent left RUNNING: nobody knows how far it came, so it
// is not run again. Before, stop is told what ran.
func (q *Queue) Interrupted(ctx context.Context, now time.Time, stop func(process string) error) ([]string, error) {
	ids, processes, err := q.running(ctx)
	if err != nil {
		return nil, err
	}
	for i, id := range ids {
		if processes[i] != "" {
			if err := stop(processes[i]); err != nil {
				return nil, fmt.Errorf("what action %s left running cannot be stopped: %w", id, err)
			}
		}
		if err := q.Finish(ctx, id, gnomonv1.NodeAction_CANCELLED, ReasonInterrupted, nil, now); err != nil {
			return nil, err
		}
	}
	return ids, nil
}

// Purge removes the records of actions that finished before a time, and of the oldest
// beyond a number of them, at most limit, and says how many. Their ids stay closed until
// forget: a record that comes late, after the core lost sight of it, must not run again.
func (q *Queue) Purge(ctx context.Context, before time.Time, keep, limit int, now, forget time.Time) (int, error) {
	n := 0
	err := q.within(ctx, func(tx *sql.Tx) error {
		n = 0
		if _, err := tx.ExecContext(ctx, `DELETE FROM closed WHERE closed < ?`, forget.UnixMicro()); err != nil {
			return err
		}
		rows, err := tx.QueryContext(ctx, `DELETE FROM actions WHERE id IN (
				SELECT id FROM actions WHERE finished < ?
				UNION SELECT id FROM (SELECT id FROM actions WHERE finished IS NOT NULL ORDER BY finished DESC, id DESC LIMIT -1 OFFSET ?)
				LIMIT ?) RETURNING id`, before.UnixMicro(), keep, limit)
		if err != nil {
			return err
		}
		ids, err := words(rows)
		for _, id := range ids {
			n++
			err = errors.Join(err, closeID(ctx, tx, id, gnomonv1.NodeAction_LOST, "its record was purged", now))
		}
		return err
	})
	return n, err
}
