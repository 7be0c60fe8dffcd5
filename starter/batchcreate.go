package starter

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"time"

	"github.com/google/uuid"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"google.golang.org/protobuf/proto"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/batch"
	"gnomon/changes"
	"gnomon/rule"
	"gnomon/store"
)

// CreateBatch implements the service. Contents first, invisible; then the start of the
// workflow, which decides who has the id; then the contents become the batch, by this
// call or, if this facade is lost in between, by the workflow. So a batch that is seen
// always has a workflow, and a workflow that runs always has contents (V-04).
func (s *Batches) CreateBatch(ctx context.Context, req *gnomonv1.CreateBatchRequest) (*gnomonv1.Batch, error) {
	now := s.Now()
	bad, badID := batch.Validate(req.GetBatch(), now), requestIDRule(req.GetRequestId())
	if len(bad)+len(badID) > 0 && !s.known(ctx, req) {
		return nil, s.objections(ctx, req.GetBatch(), bad, badID)
	}
	b := batch.Normalise(req.GetBatch())
	if err := mintUID(b, req.GetRequestId()); err != nil {
		return nil, err
	}
	if first, err := s.standing(ctx, b, req.GetRequestId()); first != nil || err != nil {
		return first, err
	}
	problems, err := s.judge(ctx, b, batch.Sound(b, nil))
	if err != nil {
		return nil, err
	}
	if len(problems) > 0 {
		return nil, refusedForProblems(problems)
	}
	fresh := batch.Fresh(b, now)
	if req.GetValidateOnly() {
		fresh.Uid, fresh.Etag = "", ""
		return fresh, nil
	}
	b.CreateTime = fresh.GetCreateTime()
	if err := s.Store.StageBatch(ctx, b, req.GetRequestId()); err != nil {
		return nil, fromStore(ctx, err)
	}
	if err := s.start(ctx, batch.New(b, now, req.GetRequestId()), b); err != nil {
		return nil, err
	}
	return s.accept(ctx, b)
}

// known says whether a request that is no good now was good when it was made first: its
// time may have come since.
func (s *Batches) known(ctx context.Context, req *gnomonv1.CreateBatchRequest) bool {
	if req.GetRequestId() == "" {
		return false
	}
	row, err := s.Store.GetBatchHead(ctx, req.GetBatch().GetId())
	return err == nil && row.CreateRequestID == req.GetRequestId()
}

// mintUID gives a batch its uid: the same for the same contents under one request_id, so
// that a call that is repeated meets what it did before.
func mintUID(b *gnomonv1.Batch, requestID string) error {
	b.Uid = uuid.NewString()
	if requestID == "" {
		return nil
	}
	contents, err := proto.MarshalOptions{Deterministic: true}.Marshal(batch.Contents(b))
	if err != nil {
		return internal("ENCODING", "the batch cannot be encoded", err)
	}
	sum := sha256.Sum256(contents)
	b.Uid = uuid.NewSHA1(uuid.NameSpaceOID, []byte("gnomon batch\x00"+b.GetId()+"\x00"+requestID+"\x00"+hex.EncodeToString(sum[:]))).String()
	return nil
}

// standing is the batch of this id, if there is one and this call made it before.
func (s *Batches) standing(ctx context.Context, b *gnomonv1.Batch, requestID string) (*gnomonv1.Batch, error) {
	row, err := s.Store.GetBatch(ctx, b.GetId())
	switch {
	case errors.Is(err, store.ErrNotFound):
		return nil, nil //nolint:nilnil // the id is free
	case err != nil:
		return nil, fromStore(ctx, err)
	case row.Batch.GetUid() == b.GetUid():
		return row.Batch, nil
	case requestID != "" && row.CreateRequestID == requestID:
		return nil, batchRequestIDReused()
	default:
		return nil, batchAlreadyExists(b.GetId())
	}
}

func batchRequestIDReused() error {
	return invalidField("request_id", "REQUEST_ID_REUSED", "was used for something else about this batch")
}

// objections refuse a batch that breaks rules. What stands against its other changes in the
// world is named too, so that a person mends all of it at once (V-03); a world that does
// not answer hides nothing that is known.
func (s *Batches) objections(ctx context.Context, wanted *gnomonv1.Batch, bad, badID []rule.Violation) error {
	b := batch.Normalise(wanted)
	b.Uid = uuid.NewString()
	if len(idRule(b.GetId())) > 0 {
		b.Id = "" // what breaks the rules is told to nobody
	}
	problems := batch.Problems(bad)
	asking, cancel := halfOf(ctx)
	defer cancel()
	found, err := s.judge(asking, b, batch.Sound(b, bad))
	if err != nil {
		s.Logger.DebugContext(ctx, "The changes of a refused batch could not be validated.", "error", err)
	}
	problems = append(problems, found...)
	// In the order of the changes, what is about the whole batch first.
	slices.SortStableFunc(problems, func(a, b *gnomonv1.Problem) int { return cmp.Compare(place(a), place(b)) })
	return refusedForProblems(problems, badID...)
}

// halfOf is a context with half the time of ctx, so that what is left is enough to answer.
func halfOf(ctx context.Context) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, time.Until(deadline)/2)
}

// place is the index of a problem's change, -1 for one of the whole batch.
func place(p *gnomonv1.Problem) int32 {
	if p.ChangeIndex == nil {
		return -1
	}
	return p.GetChangeIndex()
}

// judge has the kinds of changes judge those changes of a batch against the world (V-03).
func (s *Batches) judge(ctx context.Context, b *gnomonv1.Batch, indices []int) ([]*gnomonv1.Problem, error) {
	of := changes.Batch{ID: b.GetId(), UID: b.GetUid(), ScheduledAt: b.GetScheduledAt().AsTime(), Labels: b.GetLabels()}
	all := make([]changes.Subject, len(indices))
	for i, index := range indices {
		all[i] = changes.Subject{Index: index, Change: b.GetChanges()[index]}
	}
	problems, err := s.Changes.Validate(ctx, of, all)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, fromContext(ctx.Err())
	case err != nil:
		return nil, unavailable(reasonUnvalidated, "the changes could not be validated: "+err.Error(), err)
	}
	return problems, nil
}

// start starts the workflow of a batch. An open one of its id is an error, unless this
// call's request started it.
func (s *Batches) start(ctx context.Context, st *workflowv1.BatchState, b *gnomonv1.Batch) error {
	id := b.GetId()
	attributes := []temporal.SearchAttributeUpdate{
		temporal.NewSearchAttributeKeyKeyword(workflowv1.SearchKind).ValueSet(workflowv1.KindBatch),
	}
	if tenant := b.GetLabels()[labelTenant]; tenant != "" {
		attributes = append(attributes, temporal.NewSearchAttributeKeyKeyword(workflowv1.SearchTenant).ValueSet(tenant))
	}
	_, err := s.Client.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID:                                       workflowv1.BatchWorkflowID(id),
		TaskQueue:                                s.TaskQueue,
		WorkflowIDReusePolicy:                    enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
		WorkflowIDConflictPolicy:                 enumspb.WORKFLOW_ID_CONFLICT_POLICY_FAIL,
		WorkflowExecutionErrorWhenAlreadyStarted: true,
		TypedSearchAttributes:                    temporal.NewSearchAttributes(attributes...),
		StaticSummary:                            batch.StaticSummary(st),
		StaticDetails:                            batch.StaticDetails(b),
	}, workflowv1.BatchWorkflow, st)
	var open *serviceerror.WorkflowExecutionAlreadyStarted
	if !errors.As(err, &open) {
		return fromTemporal(err, id)
	}
	first := &workflowv1.BatchState{}
	if err := s.input(ctx, workflowv1.BatchWorkflowID(id), open.RunId, first); err != nil && !missing(err) {
		return fromTemporal(err, id)
	}
	if first.GetHead().GetUid() == b.GetUid() {
		return nil
	}
	if first.GetCreateRequestId() != "" && first.GetCreateRequestId() == st.GetCreateRequestId() {
		return batchRequestIDReused()
	}
	return batchAlreadyExists(id)
}

// accept makes the contents the batch, and answers with it. The workflow does so too; if
// the store fails now, nobody can say here whether it has.
func (s *Batches) accept(ctx context.Context, b *gnomonv1.Batch) (*gnomonv1.Batch, error) {
	row, err := s.Store.AcceptBatch(ctx, b.GetId(), b.GetUid())
	switch {
	case errors.Is(err, store.ErrBatchExists):
		return nil, batchAlreadyExists(b.GetId())
	case err != nil && ctx.Err() != nil:
		return nil, fromContext(ctx.Err())
	case err != nil:
		return nil, unavailable(reasonMaybeAccepted, "the store did not answer; the batch will be accepted when it does: read it, or repeat this call with the same request_id", err)
	}
	accepted := row.Batch
	accepted.Changes = batch.Fresh(b, s.Now()).GetChanges()
	return accepted, nil
}
