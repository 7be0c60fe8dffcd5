package starter

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/temporal"
	"google.golang.org/protobuf/proto"

	"gnomon/action"
	"gnomon/action/life"
	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
)

const (
	// maxRequestID bounds a request_id, in bytes.
	maxRequestID = 128
	// closingPause lies between looks at a run that is about to close; it doubles up
	// to longestClosingPause.
	closingPause        = 20 * time.Millisecond
	longestClosingPause = 500 * time.Millisecond
)

// CreateAction implements the service: one call of Temporal, then one of the store
// (M-49). Only a create that meets an open run needs more.
func (s *Actions) CreateAction(ctx context.Context, req *gnomonv1.CreateActionRequest) (*gnomonv1.ScheduledAction, error) {
	now := s.Now()
	bad := action.Validate(req.GetAction(), now, s.rules())
	if err := invalid(append(under("action", bad), requestIDRule(req.GetRequestId())...), ""); err != nil {
		return nil, err
	}
	given := req.GetAction()
	// New copies it; the request stays as it is.
	st := life.New(&gnomonv1.ScheduledAction{
		Meta: &gnomonv1.Meta{Id: given.GetMeta().GetId(), Labels: given.GetMeta().GetLabels(), Guid: uuid.NewString()},
		Spec: given.GetSpec(),
	}, now, req.GetRequestId())
	if req.GetValidateOnly() {
		return created(st), nil
	}
	for pause := closingPause; ; pause = min(2*pause, longestClosingPause) {
		reply, again, err := s.tryCreate(ctx, st, req.GetRequestId())
		if !again {
			return reply, err
		}
		if err := pauseFor(ctx, pause); err != nil {
			return nil, fromContext(err)
		}
	}
}

// tryCreate starts the run. Again says that the run it met is about to close: a
// deletion is followed by a creation at once (M-60).
func (s *Actions) tryCreate(ctx context.Context, st *workflowv1.ActionState, requestID string) (*gnomonv1.ScheduledAction, bool, error) {
	id := st.GetMeta().GetId()
	temporalID := requestID
	if temporalID == "" {
		temporalID = st.GetMeta().GetGuid()
	}
	runID, err := s.start(ctx, st, temporalID)
	var open *serviceerror.WorkflowExecutionAlreadyStarted
	switch {
	case errors.As(err, &open):
		return s.conflict(ctx, st, requestID, open.RunId)
	case err != nil:
		return nil, false, fromTemporal(err, id)
	case requestID == "":
		reply := created(st)
		s.mirrorNew(ctx, reply, runID)
		return reply, false, nil
	}
	first, err := s.startedWith(ctx, id, runID)
	if err != nil {
		return nil, false, fromTemporal(err, id)
	}
	reply, err := sameRequest(st, first)
	switch {
	case err != nil:
		return nil, false, err
	case first.GetMeta().GetGuid() == st.GetMeta().GetGuid():
		s.mirrorNew(ctx, reply, runID)
	default:
		s.mirrorRepeated(ctx, reply, runID)
	}
	return reply, false, nil
}

// sameRequest is the reply to a request_id that was used before: the first one's,
// unless the action is another.
func sameRequest(want, first *workflowv1.ActionState) (*gnomonv1.ScheduledAction, error) {
	same := proto.Equal(want.GetSpec(), first.GetSpec()) &&
		proto.Equal(&gnomonv1.Meta{Labels: want.GetMeta().GetLabels()}, &gnomonv1.Meta{Labels: first.GetMeta().GetLabels()})
	if !same {
		return nil, requestIDReused()
	}
	return created(first), nil
}

func requestIDReused() error {
	return invalidField("request_id", "REQUEST_ID_REUSED", "was used for another spec of this action")
}

// conflict is a create that met an open run.
func (s *Actions) conflict(ctx context.Context, st *workflowv1.ActionState, requestID, runID string) (*gnomonv1.ScheduledAction, bool, error) {
	id := st.GetMeta().GetId()
	seen, err := s.describe(ctx, id)
	if err != nil && !missing(err) {
		return nil, false, fromTemporal(err, id)
	}
	chain := seen.GetWorkflowExecutionInfo().GetFirstRunId()
	if requestID != "" {
		for _, run := range []string{runID, chain} {
			if run == "" {
				continue
			}
			if first, err := s.startedWith(ctx, id, run); err == nil && first.GetCreateRequestId() == requestID {
				reply, err := sameRequest(st, first)
				return reply, false, err
			}
		}
	}
	// The run may have ended and only wait for its last row to be stored: then it
	// begins anew with this action.
	c := &workflowv1.Command{
		Id: commandID(requestID), Action: life.Action(st), Revive: true, CreateOnly: true,
		AcceptTime: st.GetMeta().GetCreateTime(),
	}
	result, err := s.update(ctx, id, workflowv1.CommandUpdate, c)
	switch {
	case err == nil:
		s.mirrorResult(ctx, result)
		return ownCreate(result.GetAction(), st), false, nil
	case missing(err):
		return nil, true, nil
	case refusedAs(err) == workflowv1.RefusedExists:
		return nil, s.closing(ctx, id, chain), alreadyExists(id)
	case !errors.Is(err, errNoWorker):
		return nil, false, fromTemporal(err, id)
	}
	void := &workflowv1.Command{Id: c.GetId()}
	if err := s.Client.SignalWorkflow(ctx, workflowv1.WorkflowID(id), "", workflowv1.SignalVoid, void); err != nil && !missing(err) {
		return nil, false, fromTemporal(err, id)
	}
	row, err := s.Store.GetAction(ctx, id)
	if err == nil && !row.Tombstone && !seen.GetWorkflowExtendedInfo().GetCancelRequested() {
		return nil, false, alreadyExists(id)
	}
	return nil, false, unavailable("DELETION_PENDING", "the action of this id is about to end and no worker answers; try again later", nil)
}

// closing says whether the last row of a chain of runs stands already, so that its
// run closes within moments.
func (s *Actions) closing(ctx context.Context, id, chain string) bool {
	row, err := s.Store.GetAction(ctx, id)
	return err == nil && row.Tombstone && row.Chain == chain
}

// refusedAs is why the workflow refused an update, or empty.
func refusedAs(err error) string {
	if refused, ok := errors.AsType[*temporal.ApplicationError](err); ok {
		return refused.Type()
	}
	return ""
}

func (s *Actions) rules() action.Options {
	return action.Options{AllowMock: s.AllowMockActions}
}

// under prefixes the fields of violations.
func under(prefix string, bad []action.Violation) []action.Violation {
	for i := range bad {
		bad[i].Field = joinPath(prefix, bad[i].Field)
	}
	return bad
}

// requestIDRule checks a request_id: up to 128 bytes of visible ASCII.
func requestIDRule(id string) []action.Violation {
	if len(id) > maxRequestID {
		return []action.Violation{{Field: "request_id", Rule: action.RuleTooLong, Description: fmt.Sprintf("must be at most %d bytes, is %d", maxRequestID, len(id))}}
	}
	for _, b := range []byte(id) {
		if b <= ' ' || b > '~' {
			return []action.Violation{{Field: "request_id", Rule: ruleMalformed, Description: "must be visible ASCII"}}
		}
	}
	return nil
}

// commandID is the id of a command: the caller's request_id, or a new one.
func commandID(requestID string) string {
	if requestID != "" {
		return requestID
	}
	return uuid.NewString()
}

func pauseFor(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
