package starter

import (
	"context"
	"errors"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"gnomon/action/life"
	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/store"
	"gnomon/tracing"
)

// mirrorNew writes the first row of an action, so that its creator reads what he
// wrote (M-49). If the store does not take it within MirrorTimeout, the reply says so and
// it is tried further here, at last by the workflow.
func (s *Actions) mirrorNew(ctx context.Context, a *gnomonv1.ScheduledAction, chain string) {
	row := store.Row{Action: apart(a), Chain: chain}
	ended := make(chan error, 1)
	s.late.begin(func() {
		write, cancel := context.WithTimeout(context.WithoutCancel(ctx), lateLimit)
		defer cancel()
		err := s.insert(write, row)
		ended <- err
		if err != nil && !errors.Is(err, errStoreBehind) {
			s.late.add(write, row)
		}
	})
	late := time.NewTimer(s.MirrorTimeout)
	defer late.Stop()
	var err error
	select {
	case err = <-ended:
	case <-late.C:
		err = context.DeadlineExceeded
	}
	if err == nil {
		return
	}
	// The row may still be under way with these parts of the reply.
	a.Meta, a.Spec, a.Status = proto.CloneOf(a.GetMeta()), proto.CloneOf(a.GetSpec()), proto.CloneOf(a.GetStatus())
	if errors.Is(err, errStoreBehind) {
		s.condition(a, life.ConditionMirrored, "STORE_BEHIND", "the store still shows the action of this id before; it will show this")
		return
	}
	s.notMirrored(ctx, a, err)
}

// errStoreBehind is that the row of a run before stands where a first row was to be.
var errStoreBehind = errors.New("the store shows a run before")

// insert writes a first row. If that of a run before stands, the workflow is asked to see
// to its own.
func (s *Actions) insert(ctx context.Context, row store.Row) error {
	ctx, span := tracing.Begin(ctx, "InsertAction")
	applied, err := s.Store.InsertAction(ctx, row)
	tracing.End(span, err)
	if err != nil || applied || !s.orphaned(ctx, row.Action.GetMeta().GetId(), row.Chain) {
		return err
	}
	s.askForRow(ctx, row.Action.GetMeta().GetId(), "")
	return errStoreBehind
}

// insertLate is insert for a row whose run may have stored a newer one or closed meanwhile.
func (s *Actions) insertLate(ctx context.Context, row store.Row) error {
	owed, err := s.owed(ctx, row.Action.GetMeta().GetId(), row.Chain)
	if err == nil && owed {
		err = s.insert(ctx, row)
	}
	if errors.Is(err, errStoreBehind) {
		return nil
	}
	return err
}

// orphaned says whether the row of an id is one that is alive and of another run: a
// run that was terminated leaves its row as it was, and only the workflow's own rows
// are newer. Otherwise the workflow has been faster than the facade.
func (s *Actions) orphaned(ctx context.Context, id, chain string) bool {
	read, cancel := s.mirrorContext(ctx)
	defer cancel()
	row, err := s.Store.GetAction(read, id)
	return err == nil && !row.Tombstone && row.Chain != chain
}

// mirrorRepeated sees to the row of a create that was repeated: the facade that the
// first call reached may have been lost before it wrote the row.
func (s *Actions) mirrorRepeated(ctx context.Context, a *gnomonv1.ScheduledAction, runID string) {
	look, cancel := s.mirrorContext(ctx)
	defer cancel()
	if owed, err := s.owed(look, a.GetMeta().GetId(), runID); owed || err != nil {
		s.mirrorNew(ctx, a, runID)
	}
}

// owed says whether a run that began some time ago has no row: none stands, or the
// tombstone of an action before. A run that has closed stored its last row first; once
// that has expired it must not come back.
func (s *Actions) owed(ctx context.Context, id, runID string) (bool, error) {
	row, err := s.Store.GetAction(ctx, id)
	switch {
	case err != nil && !errors.Is(err, store.ErrNotFound):
		return false, err
	case err == nil && (!row.Tombstone || row.Chain == runID):
		return false, nil
	}
	seen, err := s.Client.DescribeWorkflowExecution(ctx, workflowv1.WorkflowID(id), runID)
	switch {
	case err == nil:
		return seen.GetWorkflowExecutionInfo().GetStatus() == enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING, nil
	case missing(err):
		return false, nil
	default:
		return false, err
	}
}

// askForRow has the workflow store its row, unless it has ended.
func (s *Actions) askForRow(ctx context.Context, id, runID string) {
	ask, cancel := s.mirrorContext(ctx)
	defer cancel()
	err := s.Client.SignalWorkflow(ask, workflowv1.WorkflowID(id), runID, workflowv1.SignalMirror, &workflowv1.Command{})
	if err != nil && !missing(err) {
		s.Logger.WarnContext(ctx, "A workflow could not be asked to store its row.", "action", id, "error", err)
	}
}

// mirrorResult writes the row that a command made. The workflow stores it too, for
// as long as that takes.
func (s *Actions) mirrorResult(ctx context.Context, r *workflowv1.CommandResult) {
	write, cancel := s.mirrorContext(ctx)
	defer cancel()
	write, span := tracing.Begin(write, "PutActions")
	_, err := s.Store.PutActions(write, []store.Row{{
		Action: r.GetAction(), Chain: r.GetChain(), Tombstone: r.GetTombstone(), DeletedBy: r.GetDeletedBy(),
		Revision: store.Revision{
			Incarnation: r.GetRevision().GetIncarnation().AsTime(),
			Sequence:    r.GetRevision().GetSequence(),
			Attempt:     r.GetRevision().GetAttempt(),
			Phase:       r.GetRevision().GetPhase(),
		},
	}})
	tracing.End(span, err)
	if err != nil {
		s.notMirrored(ctx, r.GetAction(), err)
	}
}

// mirrorContext bounds a write that goes on if the caller leaves: what Temporal has
// accepted is to be seen.
func (s *Actions) mirrorContext(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), s.MirrorTimeout)
}

func (s *Actions) notMirrored(ctx context.Context, a *gnomonv1.ScheduledAction, err error) {
	s.Logger.WarnContext(ctx, "The store did not take a row; it follows later.", "action", a.GetMeta().GetId(), "error", err)
	s.condition(a, life.ConditionMirrored, "STORE_UNAVAILABLE", "the store does not show this yet; it will")
}

// condition sets a condition that is FALSE in a reply.
func (s *Actions) condition(a *gnomonv1.ScheduledAction, kind, reason, message string) {
	if a.GetStatus() == nil {
		a.Status = &gnomonv1.Status{}
	}
	life.SetCondition(a.GetStatus(), &gnomonv1.Condition{
		Type: kind, Status: gnomonv1.Condition_FALSE, Reason: reason, Message: message,
		LastTransitionTime: timestamppb.New(s.Now().Truncate(time.Microsecond)),
	})
}
