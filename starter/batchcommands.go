package starter

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"google.golang.org/protobuf/types/known/timestamppb"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/batch"
	"gnomon/rule"
	"gnomon/store"
)

// CancelBatch implements the service.
func (s *Batches) CancelBatch(ctx context.Context, req *gnomonv1.CancelBatchRequest) (*gnomonv1.Batch, error) {
	bad := batch.ValidateComment(req.GetComment())
	return s.command(ctx, req, workflowv1.CommandCancel, bad, &workflowv1.BatchCommand{Comment: req.GetComment()})
}

// RescheduleBatch implements the service.
func (s *Batches) RescheduleBatch(ctx context.Context, req *gnomonv1.RescheduleBatchRequest) (*gnomonv1.Batch, error) {
	bad := batch.ValidateReschedule(req.GetScheduledAt(), req.GetComment(), s.Now())
	return s.command(ctx, req, workflowv1.CommandReschedule, bad, &workflowv1.BatchCommand{
		Comment: req.GetComment(), ScheduledAt: req.GetScheduledAt(),
	})
}

// ReviewBatch implements the service.
func (s *Batches) ReviewBatch(ctx context.Context, req *gnomonv1.ReviewBatchRequest) (*gnomonv1.Batch, error) {
	bad := batch.ValidateComment(req.GetComment())
	switch req.GetDecision() {
	case gnomonv1.ReviewBatchRequest_RESCHEDULE:
		bad = batch.ValidateReschedule(req.GetScheduledAt(), req.GetComment(), s.Now())
	case gnomonv1.ReviewBatchRequest_RETRY, gnomonv1.ReviewBatchRequest_CANCEL:
		if req.GetScheduledAt() != nil {
			bad = append(bad, rule.Violation{Field: "scheduled_at", Rule: ruleContradiction, Description: "is for RESCHEDULE only"})
		}
	default:
		bad = append(bad, rule.Violation{Field: "decision", Rule: rule.Required, Description: "must be RETRY, RESCHEDULE or CANCEL"})
	}
	return s.command(ctx, req, workflowv1.CommandReview, bad, &workflowv1.BatchCommand{
		Comment: req.GetComment(), Decision: req.GetDecision(), ScheduledAt: req.GetScheduledAt(),
	})
}

// command sends a command as an update and, where no worker answers, leaves it as a
// signal. Bad is what the request breaks beside its id.
func (s *Batches) command(ctx context.Context, req verb, name string, bad []rule.Violation, c *workflowv1.BatchCommand) (*gnomonv1.Batch, error) {
	bad = append(append(idRule(req.GetId()), bad...), requestIDRule(req.GetRequestId())...)
	if err := invalid(bad, ""); err != nil {
		return nil, err
	}
	id := req.GetId()
	c.Id, c.Etag, c.AcceptTime = commandID(req.GetRequestId()), req.GetEtag(), timestamppb.New(s.Now())
	c.Digest = digestOf(name, c)
	head, err := s.ask(ctx, id, name, c)
	switch {
	case err == nil:
		return s.applied(ctx, head)
	case errors.Is(err, errNoWorker):
		return s.leave(ctx, id, name, c)
	default:
		return s.refused(ctx, req, err)
	}
}

// ask sends a command as an update. The end of a round is stored before its workflow hears
// of it, so that a caller may know of a review that the workflow does not know yet: while
// the store allows what was refused, the workflow is asked again until it has caught up.
func (s *Batches) ask(ctx context.Context, id, name string, c *workflowv1.BatchCommand) (*workflowv1.BatchHead, error) {
	wait, cancel := within(ctx, s.ApplyTimeout)
	defer cancel()
	for updateID := c.GetId() + "/" + c.GetDigest(); ; updateID += "+" {
		head, err := send[workflowv1.BatchHead](ctx, s.ApplyTimeout, func(wait context.Context) (client.WorkflowUpdateHandle, error) {
			return s.Client.UpdateWorkflow(wait, client.UpdateWorkflowOptions{
				UpdateID:     updateID,
				WorkflowID:   workflowv1.BatchWorkflowID(id),
				UpdateName:   name,
				Args:         []any{c},
				WaitForStage: client.WorkflowUpdateStageCompleted,
			})
		})
		as := refusedAs(err)
		if as != workflowv1.RefusedState && as != workflowv1.RefusedEtag || !s.allows(wait, id, name, c) || pauseFor(wait, closingPause) != nil {
			return head, err
		}
	}
}

// allows says whether what the store knows of a batch allows a command.
func (s *Batches) allows(ctx context.Context, id, name string, c *workflowv1.BatchCommand) bool {
	row, err := s.Store.GetBatchHead(ctx, id)
	return err == nil && row.Batch.GetStatus().GetState() == batch.Allowed(name) &&
		(c.GetEtag() == "" || c.GetEtag() == row.Batch.GetEtag())
}

// digestOf tells one command from another under the same request_id.
func digestOf(name string, c *workflowv1.BatchCommand) string {
	at := ""
	if c.GetScheduledAt() != nil {
		at = c.GetScheduledAt().AsTime().Format(time.RFC3339Nano)
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %s %q", name, at, c.GetDecision(), c.GetComment()))
	return hex.EncodeToString(sum[:8])
}

// applied writes the head that a command made, so that its caller reads what he wrote, and
// answers with the batch. The workflow stores the head too, for as long as that takes.
func (s *Batches) applied(ctx context.Context, head *workflowv1.BatchHead) (*gnomonv1.Batch, error) {
	write, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.MirrorTimeout)
	defer cancel()
	_, err := s.Store.PutBatch(write, store.BatchWrite{Head: head})
	if err != nil {
		s.Logger.WarnContext(ctx, "The store did not take a batch's head; it follows later.", "batch", head.GetId(), "error", err)
	}
	row, err := s.Store.GetBatch(write, head.GetId())
	if err != nil {
		// The command is applied all the same: what is known of it is the answer.
		b := &gnomonv1.Batch{Id: head.GetId(), Uid: head.GetUid()}
		batch.Wear(b, head)
		return b, nil
	}
	return row.Batch, nil
}

// leave leaves a command with Temporal, which keeps it until a worker applies it. What the
// store says of the batch must allow it; the workflow judges again.
func (s *Batches) leave(ctx context.Context, id, name string, c *workflowv1.BatchCommand) (*gnomonv1.Batch, error) {
	row, err := s.Store.GetBatch(ctx, id)
	if err != nil {
		return nil, fromBatchStore(ctx, err, id)
	}
	if c.GetEtag() != "" && c.GetEtag() != row.Batch.GetEtag() {
		return nil, batchEtagMismatch(id)
	}
	if state := row.Batch.GetStatus().GetState(); state != batch.Allowed(name) {
		return nil, batchState(id, state.String())
	}
	if err := s.Client.SignalWorkflow(ctx, workflowv1.BatchWorkflowID(id), "", name, c); err != nil {
		if missing(err) {
			return nil, batchNotFound(id)
		}
		return nil, fromTemporal(err, id)
	}
	batch.NotApplied(row.Batch, s.Now())
	return row.Batch, nil
}

// refused maps why the workflow refused a command, or why it could not be asked. A command
// that was applied before under the same request_id is answered as it was then.
func (s *Batches) refused(ctx context.Context, req verb, err error) (*gnomonv1.Batch, error) {
	id := req.GetId()
	refusedAs := refusedAs(err)
	if !missing(err) && refusedAs == "" {
		return nil, fromTemporal(err, id)
	}
	switch refusedAs {
	case workflowv1.RefusedEtag:
		return nil, batchEtagMismatch(id)
	case workflowv1.RefusedReused:
		return nil, batchRequestIDReused()
	case workflowv1.RefusedState:
		return nil, batchState(id, refusedState(err))
	case "":
	default:
		return nil, internal("COMMAND_REFUSED", "the workflow refused the command", err)
	}
	// Its workflow is over, or there is none.
	row, err := s.Store.GetBatch(ctx, id)
	if err != nil {
		return nil, fromBatchStore(ctx, err, id)
	}
	st := row.Batch.GetStatus()
	if last := st.GetLastDecision().GetRequestId(); req.GetRequestId() != "" && last == req.GetRequestId() {
		return row.Batch, nil
	}
	return nil, batchState(id, st.GetState().String())
}

// refusedState is the state in the details of a refusal for it.
func refusedState(err error) string {
	var state string
	if refused, ok := errors.AsType[*temporal.ApplicationError](err); ok && refused.HasDetails() && refused.Details(&state) == nil {
		return state
	}
	return "in another state"
}
