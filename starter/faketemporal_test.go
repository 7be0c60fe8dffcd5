package starter

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/store"
)

// fakeTemporal is a Temporal that answers as the test says and remembers what it
// was asked.
type fakeTemporal struct {
	client.Client

	// run answers a start. Default: the run "run-1".
	run func(*workflowservice.StartWorkflowExecutionRequest) (string, error)
	// apply answers an update. Default: nobody does.
	apply func(name string, c *workflowv1.Command) (*workflowv1.CommandResult, error)

	mu      sync.Mutex
	starts  []*workflowservice.StartWorkflowExecutionRequest
	begun   map[string]*workflowv1.ActionState // what runs were started with
	updates []sent
	withRun []*workflowv1.ActionState // what updates would have started
	signals []sent
	cancels []string
	chainOf string // first run of the open one
	// status is that of every run that is described.
	status enumspb.WorkflowExecutionStatus
}

// sent is a command on its way.
type sent struct {
	workflow, name string
	command        *workflowv1.Command
}

// told are the signals that were sent so far.
func (f *fakeTemporal) told() []sent {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.signals)
}

func (f *fakeTemporal) WorkflowService() workflowservice.WorkflowServiceClient {
	return fakeServer{fakeTemporal: f}
}

// fakeServer is its bare service.
type fakeServer struct {
	workflowservice.WorkflowServiceClient

	fakeTemporal *fakeTemporal
}

// StartWorkflowExecution implements workflowservice.WorkflowServiceClient.
func (s fakeServer) StartWorkflowExecution(_ context.Context, req *workflowservice.StartWorkflowExecutionRequest, _ ...grpc.CallOption) (*workflowservice.StartWorkflowExecutionResponse, error) {
	f := s.fakeTemporal
	f.mu.Lock()
	defer f.mu.Unlock()
	f.starts = append(f.starts, req)
	runID := "run-1"
	if f.run != nil {
		var err error
		if runID, err = f.run(req); err != nil {
			return nil, err
		}
	}
	if f.begun[runID] == nil {
		st := &workflowv1.ActionState{}
		if err := converter.GetDefaultDataConverter().FromPayloads(req.GetInput(), st); err != nil {
			return nil, err
		}
		f.begun[runID] = st
	}
	return &workflowservice.StartWorkflowExecutionResponse{RunId: runID}, nil
}

// GetWorkflowExecutionHistory implements workflowservice.WorkflowServiceClient.
func (s fakeServer) GetWorkflowExecutionHistory(_ context.Context, req *workflowservice.GetWorkflowExecutionHistoryRequest, _ ...grpc.CallOption) (*workflowservice.GetWorkflowExecutionHistoryResponse, error) {
	f := s.fakeTemporal
	f.mu.Lock()
	defer f.mu.Unlock()
	input, err := converter.GetDefaultDataConverter().ToPayloads(f.begun[req.GetExecution().GetRunId()])
	if err != nil {
		return nil, err
	}
	return &workflowservice.GetWorkflowExecutionHistoryResponse{History: &historypb.History{Events: []*historypb.HistoryEvent{{
		Attributes: &historypb.HistoryEvent_WorkflowExecutionStartedEventAttributes{
			WorkflowExecutionStartedEventAttributes: &historypb.WorkflowExecutionStartedEventAttributes{Input: input},
		},
	}}}}, nil
}

// DescribeWorkflowExecution implements client.Client.
func (f *fakeTemporal) DescribeWorkflowExecution(context.Context, string, string) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
	return &workflowservice.DescribeWorkflowExecutionResponse{WorkflowExecutionInfo: &workflowpb.WorkflowExecutionInfo{
		Execution: &commonpb.WorkflowExecution{RunId: f.chainOf}, FirstRunId: f.chainOf, Status: f.status,
	}}, nil
}

// UpdateWorkflow implements client.Client. Without a worker it waits as the server
// does.
func (f *fakeTemporal) UpdateWorkflow(ctx context.Context, o client.UpdateWorkflowOptions) (client.WorkflowUpdateHandle, error) {
	c := o.Args[0].(*workflowv1.Command)
	f.mu.Lock()
	f.updates = append(f.updates, sent{o.WorkflowID, o.UpdateName, c})
	f.mu.Unlock()
	if f.apply == nil {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	result, err := f.apply(o.UpdateName, c)
	return fakeHandle{result: result, err: err}, nil
}

// NewWithStartWorkflowOperation implements client.Client.
func (f *fakeTemporal) NewWithStartWorkflowOperation(_ client.StartWorkflowOptions, _ any, args ...any) client.WithStartWorkflowOperation {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.withRun = append(f.withRun, args[0].(*workflowv1.ActionState))
	return nil
}

// UpdateWithStartWorkflow implements client.Client.
func (f *fakeTemporal) UpdateWithStartWorkflow(ctx context.Context, o client.UpdateWithStartWorkflowOptions) (client.WorkflowUpdateHandle, error) {
	return f.UpdateWorkflow(ctx, o.UpdateOptions)
}

// SignalWorkflow implements client.Client.
func (f *fakeTemporal) SignalWorkflow(_ context.Context, workflowID, _, name string, arg any) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.signals = append(f.signals, sent{workflowID, name, arg.(*workflowv1.Command)})
	return nil
}

// CancelWorkflow implements client.Client.
func (f *fakeTemporal) CancelWorkflow(_ context.Context, workflowID, _ string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.cancels = append(f.cancels, workflowID)
	return nil
}

type fakeHandle struct {
	client.WorkflowUpdateHandle

	result *workflowv1.CommandResult
	err    error
}

// Get implements client.WorkflowUpdateHandle.
func (h fakeHandle) Get(_ context.Context, into any) error {
	if h.err != nil {
		return h.err
	}
	proto.Merge(into.(proto.Message), h.result)
	return nil
}

// refusing is a workflow that refuses every update for this reason.
func refusing(reason string) func(string, *workflowv1.Command) (*workflowv1.CommandResult, error) {
	return func(string, *workflowv1.Command) (*workflowv1.CommandResult, error) {
		return nil, temporal.NewNonRetryableApplicationError("no", reason, nil)
	}
}

// fakeRows is a store that may be down. Its fields are set while nothing is under way.
type fakeRows struct {
	store.Store

	mu       sync.Mutex
	err      error
	rows     map[string]store.Row
	inserted []store.Row
	put      []store.Row
	// hang, if there is one, holds every insert until it is closed.
	hang chan struct{}
}

// InsertAction implements store.Actions.
func (s *fakeRows) InsertAction(_ context.Context, row store.Row) (bool, error) {
	if s.hang != nil {
		<-s.hang
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inserted = append(s.inserted, row)
	return s.err == nil, s.err
}

// PutActions implements store.Actions.
func (s *fakeRows) PutActions(_ context.Context, rows []store.Row) ([]bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.put = append(s.put, rows...)
	return make([]bool, len(rows)), s.err
}

// GetAction implements store.Actions.
func (s *fakeRows) GetAction(_ context.Context, id string) (store.Row, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	row, ok := s.rows[id]
	switch {
	case s.err != nil:
		return store.Row{}, s.err
	case !ok:
		return store.Row{}, store.ErrNotFound
	}
	return row, nil
}

// answers has the store answer so from now on, and forget what was inserted.
func (s *fakeRows) answers(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err, s.inserted = err, nil
}

// ids are those of the rows that were inserted, in order of id.
func (s *fakeRows) ids() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var ids []string
	for _, row := range s.inserted {
		ids = append(ids, row.Action.GetMeta().GetId())
	}
	slices.Sort(ids)
	return ids
}

// newFacade is the facade in front of a fake Temporal and store.
func newFacade(t *testing.T) (*Actions, *fakeTemporal, *fakeRows) {
	t.Helper()
	f := &fakeTemporal{begun: map[string]*workflowv1.ActionState{}}
	rows := &fakeRows{rows: map[string]store.Row{}}
	s, err := NewActions(Config{
		Client: f, Store: rows, ApplyTimeout: 10 * time.Millisecond,
		Now: func() time.Time { return noon }, Logger: slog.New(slog.DiscardHandler),
	})
	require.NoError(t, err)
	return s, f, rows
}

// wantedAction is one that every facade accepts.
func wantedAction(id string) *gnomonv1.ScheduledAction {
	return &gnomonv1.ScheduledAction{
		Meta: &gnomonv1.Meta{Id: id},
		Spec: &gnomonv1.Spec{
			StartPolicy: &gnomonv1.StartPolicy{StartAt: timestamppb.New(noon.Add(time.Minute))},
			SendPolicy: &gnomonv1.SendPolicy{Policy: &gnomonv1.SendPolicy_SendPeriodicallyPolicy{
				SendPeriodicallyPolicy: &gnomonv1.SendPeriodicallyPolicy{Period: durationpb.New(time.Minute)},
			}},
			Action: &gnomonv1.Action{Action: &gnomonv1.Action_HttpRequest{HttpRequest: &gnomonv1.HttpRequest{Url: "https://example.com"}}},
		},
	}
}

// isFalse says whether a reply has a condition that is FALSE.
func isFalse(a *gnomonv1.ScheduledAction, kind string) bool {
	for _, c := range a.GetStatus().GetConditions() {
		if c.GetType() == kind {
			return c.GetStatus() == gnomonv1.Condition_FALSE
		}
	}
	return false
}
