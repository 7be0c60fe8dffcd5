package reconcile_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/types/known/timestamppb"

	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/reconcile"
	"gnomon/store"
	"gnomon/store/sqlite"
)

// temporal is a made-up Temporal with some open workflows. What it is not told of it
// does not know.
type temporal struct {
	client.Client

	mu     sync.Mutex
	open   []string         // sorted
	closed map[string]error // why their results cannot be read
	silent bool             // no worker answers
	asked  int
	// pages is how many pages of open workflows were read.
	pages int
}

func (f *temporal) ListWorkflow(_ context.Context, req *workflowservice.ListWorkflowExecutionsRequest) (*workflowservice.ListWorkflowExecutionsResponse, error) {
	f.mu.Lock()
	f.pages++
	f.mu.Unlock()
	from := 0
	if len(req.GetNextPageToken()) > 0 {
		from, _ = strconv.Atoi(string(req.GetNextPageToken()))
	}
	to := min(from+int(req.GetPageSize()), len(f.open))
	page := &workflowservice.ListWorkflowExecutionsResponse{}
	for _, id := range f.open[from:to] {
		page.Executions = append(page.Executions, &workflowpb.WorkflowExecutionInfo{
			Execution: &commonpb.WorkflowExecution{WorkflowId: workflowv1.WorkflowID(id)},
		})
	}
	if to < len(f.open) {
		page.NextPageToken = []byte(strconv.Itoa(to))
	}
	return page, nil
}

func (f *temporal) DescribeWorkflowExecution(_ context.Context, workflowID, _ string) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
	id := strings.TrimPrefix(workflowID, workflowv1.WorkflowID(""))
	info := &workflowpb.WorkflowExecutionInfo{
		Execution: &commonpb.WorkflowExecution{WorkflowId: workflowID, RunId: "run"}, FirstRunId: "chain",
		Type: &commonpb.WorkflowType{Name: workflowv1.ActionWorkflow}, TaskQueue: workflowv1.DefaultTaskQueue,
		Status: enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING,
	}
	_, known := slices.BinarySearch(f.open, id)
	if _, ok := f.closed[id]; ok {
		known, info.Status = true, enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED
	}
	if !known {
		return nil, serviceerror.NewNotFound("no such workflow")
	}
	return &workflowservice.DescribeWorkflowExecutionResponse{WorkflowExecutionInfo: info}, nil
}

func (f *temporal) QueryWorkflowWithOptions(_ context.Context, req *client.QueryWorkflowWithOptionsRequest) (*client.QueryWorkflowWithOptionsResponse, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked++
	if f.silent {
		return nil, serviceerror.NewDeadlineExceeded("no worker")
	}
	a := action()
	a.Meta.Id = strings.TrimPrefix(req.WorkflowID, workflowv1.WorkflowID(""))
	return &client.QueryWorkflowWithOptionsResponse{QueryResult: value{&workflowv1.CommandResult{
		Action: a, Chain: "chain", Revision: &workflowv1.Revision{Incarnation: timestamppb.New(began), Sequence: 1},
	}}}, nil
}

func (f *temporal) GetWorkflow(_ context.Context, workflowID, _ string) client.WorkflowRun {
	return run{err: f.closed[strings.TrimPrefix(workflowID, workflowv1.WorkflowID(""))]}
}

// value is an answer.
type value struct{ result *workflowv1.CommandResult }

func (value) HasValue() bool { return true }

func (v value) Get(into any) error {
	p, err := converter.GetDefaultDataConverter().ToPayloads(v.result)
	if err != nil {
		return err
	}
	return converter.GetDefaultDataConverter().FromPayloads(p, into)
}

// run is a closed run whose result cannot be read.
type run struct {
	client.WorkflowRun

	err error
}

func (r run) Get(context.Context, any) error { return r.err }

// picky is a store that does not take the rows of one id.
type picky struct {
	store.Actions

	refused string
	down    bool
}

var errRefused = errors.New("this row is not taken")

func (p *picky) PutActions(ctx context.Context, rows []store.Row) ([]bool, error) {
	if rows[0].Action.GetMeta().GetId() == p.refused {
		return nil, errRefused
	}
	return p.Actions.PutActions(ctx, rows)
}

func (p *picky) Ping(ctx context.Context) error {
	if p.down {
		return errRefused
	}
	return p.Actions.Ping(ctx)
}

// made is a configuration with a made-up Temporal of n open workflows and an empty
// store.
func made(t *testing.T, n int) (reconcile.Config, *temporal, *picky) {
	t.Helper()
	rows, err := sqlite.Open(t.Context(), sqlite.Config{Path: sqlite.MemoryPath})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, rows.Close()) })
	f := &temporal{}
	for i := range n {
		f.open = append(f.open, fmt.Sprintf("a-%04d", i))
	}
	p := &picky{Actions: rows}
	return reconcile.Config{
		Client: f, Store: p, Settle: 1, Rate: 100_000, Page: 10, Now: func() time.Time { return now },
	}, f, p
}
