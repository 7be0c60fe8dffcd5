package starter

import (
	"context"
	"errors"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"google.golang.org/protobuf/proto"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/playbook"
	"gnomon/store"
)

// CreatePlaybook implements the service: all that is wrong at once, then the start of the
// workflow, which decides who has the id, then the first row, so that the caller reads
// what he wrote. The definition is part of the run.
func (s *Playbooks) CreatePlaybook(ctx context.Context, req *gnomonv1.CreatePlaybookRequest) (*gnomonv1.Playbook, error) {
	bad := under("playbook", playbook.Validate(req.GetPlaybook()))
	if err := invalid(append(bad, requestIDRule(req.GetRequestId())...), ""); err != nil {
		return nil, err
	}
	p := proto.CloneOf(req.GetPlaybook())
	p.Status, p.CreateTime, p.UpdateTime = nil, nil, nil
	digest, err := digestOfMessage(p)
	if err != nil {
		return nil, err
	}
	if known, err := s.createdBefore(ctx, p.GetId(), req.GetRequestId(), digest); known != nil || err != nil {
		return known, err
	}
	st := playbook.Start(p, s.Now())
	if req.GetValidateOnly() {
		p.CreateTime, p.UpdateTime = nil, nil
		return p, nil
	}
	st.RequestId, st.Digest = req.GetRequestId(), digest
	if first, err := s.start(ctx, st); first != nil || err != nil {
		return first, err
	}
	write, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.MirrorTimeout)
	defer cancel()
	// Any row of the workflow's is newer than this one.
	if err := s.Store.PutPlaybook(write, store.PlaybookRow{Playbook: p, RequestID: req.GetRequestId(), Digest: digest}); err != nil {
		s.Logger.WarnContext(ctx, "The store did not take a playbook's row; it follows later.", "playbook", p.GetId(), "error", err)
	}
	return p, nil
}

// createdBefore is the playbook of this id that the store knows, if this call made it.
func (s *Playbooks) createdBefore(ctx context.Context, id, requestID, digest string) (*gnomonv1.Playbook, error) {
	row, err := s.Store.GetPlaybook(ctx, id)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return nil, nil //nolint:nilnil // the id is free
	case err != nil:
		return nil, fromStore(ctx, err)
	case requestID == "" || row.RequestID != requestID:
		return nil, playbookExists(id)
	case row.Digest != digest:
		return nil, invalidField("request_id", "REQUEST_ID_REUSED", messageRequestIDOfAnything)
	default:
		return row.Playbook, nil
	}
}

// start starts the workflow of a playbook. One of its id, open or not, is an error, unless
// this call's request started it: then that is what it is answered with.
func (s *Playbooks) start(ctx context.Context, st *workflowv1.PlaybookState) (*gnomonv1.Playbook, error) {
	id := st.GetPlaybook().GetId()
	workflowID := workflowv1.PlaybookWorkflowID(id)
	_, err := s.Client.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID:                                       workflowID,
		TaskQueue:                                s.TaskQueue,
		WorkflowIDReusePolicy:                    enumspb.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE,
		WorkflowIDConflictPolicy:                 enumspb.WORKFLOW_ID_CONFLICT_POLICY_FAIL,
		WorkflowExecutionErrorWhenAlreadyStarted: true,
		StaticSummary:                            "playbook " + id + " on cluster " + st.GetPlaybook().GetCluster(),
	}, workflowv1.PlaybookWorkflow, st)
	var known *serviceerror.WorkflowExecutionAlreadyStarted
	if !errors.As(err, &known) {
		return nil, fromTemporal(err, id)
	}
	first := &workflowv1.PlaybookState{}
	if err := s.input(ctx, workflowID, known.RunId, first); err != nil && !missing(err) {
		return nil, fromTemporal(err, id)
	}
	switch {
	case st.GetRequestId() == "" || first.GetRequestId() != st.GetRequestId():
		return nil, playbookExists(id)
	case first.GetDigest() != st.GetDigest():
		return nil, invalidField("request_id", "REQUEST_ID_REUSED", messageRequestIDOfAnything)
	default:
		return first.GetPlaybook(), nil
	}
}
