package replay

import (
	"log/slog"
	"slices"

	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
	"google.golang.org/protobuf/proto"

	"gnomon/reconcile/periodic"
	"gnomon/workflows"
)

// Run replays a history with the workflows as they are now. The error says which
// event they decide differently at: a command of another kind or at another place,
// another time to sleep, another row, another input of an attempt, another end. The
// texts for people may differ. More are interceptors that a worker may have beside those
// of package workflows.
func Run(h *historypb.History, more ...interceptor.WorkerInterceptor) error {
	return RunWith(workflows.Options{}, h, more...)
}

// RunWith is Run by a worker with other options than those that made the history, which
// may differ (docs/changing-workflows.md).
func RunWith(o workflows.Options, h *historypb.History, more ...interceptor.WorkerInterceptor) error {
	return run(h, func(r worker.WorkflowRegistry) {
		workflows.New(o).Register(r)
		r.RegisterWorkflowWithOptions(periodic.Reconcile, workflow.RegisterOptions{Name: periodic.WorkflowName})
	}, more...)
}

// run replays with the workflows that register knows.
func run(h *historypb.History, register func(worker.WorkflowRegistry), more ...interceptor.WorkerInterceptor) error {
	decided := &decisions{activities: map[string][]proto.Message{}}
	r, err := worker.NewWorkflowReplayerWithOptions(worker.WorkflowReplayerOptions{
		Interceptors: slices.Concat(more, workflows.Interceptors(), []interceptor.WorkerInterceptor{decided}),
	})
	if err != nil {
		return err
	}
	register(r)
	quiet := log.NewStructuredLogger(slog.New(slog.DiscardHandler))
	options := worker.ReplayWorkflowHistoryOptions{OriginalExecution: execution(h)}
	if err := r.ReplayWorkflowHistoryWithOptions(quiet, h, options); err != nil {
		return err
	}
	return decided.compare(h)
}

// execution is the run that a history is of.
func execution(h *historypb.History) workflow.Execution {
	if len(h.GetEvents()) == 0 {
		return workflow.Execution{}
	}
	started := h.GetEvents()[0].GetWorkflowExecutionStartedEventAttributes()
	return workflow.Execution{ID: started.GetWorkflowId(), RunID: started.GetOriginalExecutionRunId()}
}
