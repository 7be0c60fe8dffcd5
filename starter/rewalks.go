package starter

import (
	"cmp"
	"context"
	"errors"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/timestamppb"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/rule"
	"gnomon/store"
)

const (
	// defaultRewalkRate is what rate 0 means, in entities a second.
	defaultRewalkRate = 100
	// minRewalkRate and maxRewalkRate bound what else it may be.
	minRewalkRate = 0.01
	maxRewalkRate = 10_000
	// cancelTime is how long a walk may take to end that is cancelled: its worker hears of
	// it with a heartbeat, and the store has to take its row.
	cancelTime = 30 * time.Second
)

// rateRule checks the rate of a walk.
func rateRule(rate float64) []rule.Violation {
	var v rule.Violations
	if rate != 0 && !(rate >= minRewalkRate && rate <= maxRewalkRate) { // what is not a number is neither
		v.Add("rate", rule.OutOfRange, "must be 0, or %g to %d entities a second", minRewalkRate, maxRewalkRate)
	}
	return v
}

// RewalkStage implements the service (G-30). The walk's workflow has the stage's name, so
// that there is one at a time.
func (s *Entities) RewalkStage(ctx context.Context, req *gnomonv1.RewalkStageRequest) (*gnomonv1.Rewalk, error) {
	if err := invalid(rateRule(req.GetRate()), ""); err != nil {
		return nil, err
	}
	stage, err := s.declared(req.GetStage())
	if err != nil {
		return nil, err
	}
	id := workflowv1.RewalkWorkflowID(stage.Name)
	begins := &gnomonv1.Rewalk{Stage: stage.Name, State: gnomonv1.Rewalk_RUNNING, StartTime: timestamppb.New(s.Now())}
	_, err = s.Client.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID: id, TaskQueue: s.TaskQueue, StaticSummary: "walk of stage " + stage.Name,
		WorkflowIDReusePolicy:    enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
		WorkflowIDConflictPolicy: enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
	}, workflowv1.RewalkWorkflow, &workflowv1.RewalkState{
		Walk: begins, EntityType: stage.EntityType,
		Rate: cmp.Or(req.GetRate(), defaultRewalkRate), Unconditional: req.GetUnconditional(),
	})
	if err != nil {
		return nil, fromTemporal(err, stage.Name)
	}
	walk, err := s.walk(ctx, stage.Name)
	if errors.Is(err, errNoWorker) {
		return begins, nil // it goes on when there is a worker
	}
	return walk, err
}

// GetRewalk implements the service.
func (s *Entities) GetRewalk(ctx context.Context, req *gnomonv1.GetRewalkRequest) (*gnomonv1.Rewalk, error) {
	stage, err := s.declared(req.GetStage())
	if err != nil {
		return nil, err
	}
	walk, err := s.walk(ctx, stage.Name)
	if errors.Is(err, errNoWorker) {
		return nil, nobodyAnswered(err)
	}
	return walk, err
}

// CancelRewalk implements the service. It waits until the walk has ended, and answers how:
// also that it was done before it heard. A walk that had ended is answered as it is.
func (s *Entities) CancelRewalk(ctx context.Context, req *gnomonv1.CancelRewalkRequest) (*gnomonv1.Rewalk, error) {
	stage, err := s.declared(req.GetStage())
	if err != nil {
		return nil, err
	}
	id := workflowv1.RewalkWorkflowID(stage.Name)
	err = s.Client.SignalWorkflow(ctx, id, "", workflowv1.SignalCancelRewalk, nil)
	if missing(err) {
		return s.GetRewalk(ctx, &gnomonv1.GetRewalkRequest{Stage: stage.Name})
	}
	if err != nil {
		return nil, fromTemporal(err, stage.Name)
	}
	limit := cancelTime
	if deadline, ok := ctx.Deadline(); ok {
		limit = min(limit, time.Until(deadline)*9/10) // the rest is to say so
	}
	wait, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	ended := &gnomonv1.Rewalk{}
	err = s.Client.GetWorkflow(wait, id, "").Get(wait, ended)
	var otherwise *temporal.WorkflowExecutionError
	switch {
	case err == nil:
		return ended, nil
	case errors.As(err, &otherwise): // terminated: the row is what stands
		return s.GetRewalk(ctx, &gnomonv1.GetRewalkRequest{Stage: stage.Name})
	case ctx.Err() == nil && (wait.Err() != nil || temporalCode(err) == codes.DeadlineExceeded):
		// The signal stays: the walk ends when a worker and the store are there.
		return nil, noWorker(err)
	}
	return nil, fromTemporal(err, stage.Name)
}

// walk is the last walk of a stage: of its workflow while that is open, else of the store,
// and as the store has it where no worker answers. Of its errors errNoWorker is not yet
// mapped.
func (s *Entities) walk(ctx context.Context, stage string) (*gnomonv1.Rewalk, error) {
	walk := &gnomonv1.Rewalk{}
	err := s.queryOpen(ctx, workflowv1.RewalkWorkflowID(stage), workflowv1.QueryRewalk, walk)
	switch {
	case err == nil:
		return walk, nil
	case errors.Is(err, errNoWorker):
		stored, errStore := s.Store.GetRewalk(ctx, stage)
		if errStore != nil || stored.GetState() != gnomonv1.Rewalk_RUNNING {
			return nil, err // it is of an earlier walk, or of none
		}
		return stored, nil
	case !errors.Is(err, errNotOpen):
		return nil, fromTemporal(err, stage)
	}
	switch walk, err = s.Store.GetRewalk(ctx, stage); {
	case errors.Is(err, store.ErrNotFound):
		return nil, rewalkNotFound(stage)
	case err != nil:
		return nil, fromStore(ctx, err)
	}
	return walk, nil
}
