package workflows_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/worker"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/workflows"
)

// history is what the server would have recorded of a run whose first task found
// all that happened while no worker ran.
type history struct {
	t      *testing.T
	events []*historypb.HistoryEvent
}

func (h *history) add(kind enumspb.EventType, change func(*historypb.HistoryEvent)) {
	e := &historypb.HistoryEvent{EventId: int64(len(h.events) + 1), EventTime: timestamppb.New(accepted), EventType: kind}
	if change != nil {
		change(e)
	}
	h.events = append(h.events, e)
}

func (h *history) payloads(v any) *commonpb.Payloads {
	p, err := converter.GetDefaultDataConverter().ToPayloads(v)
	require.NoError(h.t, err)
	return p
}

func newHistory(t *testing.T) *history {
	t.Helper()
	h := &history{t: t}
	h.add(enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED, func(e *historypb.HistoryEvent) {
		e.Attributes = &historypb.HistoryEvent_WorkflowExecutionStartedEventAttributes{
			WorkflowExecutionStartedEventAttributes: &historypb.WorkflowExecutionStartedEventAttributes{
				WorkflowType: &commonpb.WorkflowType{Name: workflowv1.ActionWorkflow}, TaskQueue: &taskqueuepb.TaskQueue{Name: "gnomon"},
				Input: h.payloads(state(once(nil))), OriginalExecutionRunId: "run-1", FirstExecutionRunId: "run-1", Attempt: 1,
				WorkflowTaskTimeout: durationpb.New(10 * time.Second),
			},
		}
	})
	h.add(enumspb.EVENT_TYPE_WORKFLOW_TASK_SCHEDULED, func(e *historypb.HistoryEvent) {
		e.Attributes = &historypb.HistoryEvent_WorkflowTaskScheduledEventAttributes{WorkflowTaskScheduledEventAttributes: &historypb.WorkflowTaskScheduledEventAttributes{}}
	})
	return h
}

func (h *history) signal(name string, c *workflowv1.Command) {
	h.add(enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED, func(e *historypb.HistoryEvent) {
		e.Attributes = &historypb.HistoryEvent_WorkflowExecutionSignaledEventAttributes{
			WorkflowExecutionSignaledEventAttributes: &historypb.WorkflowExecutionSignaledEventAttributes{SignalName: name, Input: h.payloads(c)},
		}
	})
}

func (h *history) cancel() {
	h.add(enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_CANCEL_REQUESTED, func(e *historypb.HistoryEvent) {
		e.Attributes = &historypb.HistoryEvent_WorkflowExecutionCancelRequestedEventAttributes{
			WorkflowExecutionCancelRequestedEventAttributes: &historypb.WorkflowExecutionCancelRequestedEventAttributes{},
		}
	})
}

// task is the one workflow task, and what it is to have decided.
func (h *history) task() {
	h.add(enumspb.EVENT_TYPE_WORKFLOW_TASK_STARTED, func(e *historypb.HistoryEvent) {
		e.Attributes = &historypb.HistoryEvent_WorkflowTaskStartedEventAttributes{
			WorkflowTaskStartedEventAttributes: &historypb.WorkflowTaskStartedEventAttributes{ScheduledEventId: 2},
		}
	})
	h.add(enumspb.EVENT_TYPE_WORKFLOW_TASK_COMPLETED, func(e *historypb.HistoryEvent) {
		e.Attributes = &historypb.HistoryEvent_WorkflowTaskCompletedEventAttributes{
			WorkflowTaskCompletedEventAttributes: &historypb.WorkflowTaskCompletedEventAttributes{ScheduledEventId: 2, StartedEventId: e.GetEventId() - 1},
		}
	})
}

func (h *history) continuedAsNew() {
	h.add(enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_CONTINUED_AS_NEW, func(e *historypb.HistoryEvent) {
		e.Attributes = &historypb.HistoryEvent_WorkflowExecutionContinuedAsNewEventAttributes{
			WorkflowExecutionContinuedAsNewEventAttributes: &historypb.WorkflowExecutionContinuedAsNewEventAttributes{
				NewExecutionRunId: "run-2", WorkflowType: &commonpb.WorkflowType{Name: workflowv1.ActionWorkflow},
				TaskQueue: &taskqueuepb.TaskQueue{Name: "gnomon"}, WorkflowTaskCompletedEventId: e.GetEventId() - 1,
			},
		}
	})
}

func (h *history) deleted() {
	completed := int64(len(h.events))
	h.add(enumspb.EVENT_TYPE_UPSERT_WORKFLOW_SEARCH_ATTRIBUTES, func(e *historypb.HistoryEvent) {
		outcome, err := converter.GetDefaultDataConverter().ToPayload("deleted")
		require.NoError(h.t, err)
		outcome.Metadata["type"] = []byte("Keyword")
		e.Attributes = &historypb.HistoryEvent_UpsertWorkflowSearchAttributesEventAttributes{
			UpsertWorkflowSearchAttributesEventAttributes: &historypb.UpsertWorkflowSearchAttributesEventAttributes{
				WorkflowTaskCompletedEventId: completed,
				SearchAttributes:             &commonpb.SearchAttributes{IndexedFields: map[string]*commonpb.Payload{workflowv1.SearchOutcome: outcome}},
			},
		}
	})
	h.add(enumspb.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED, func(e *historypb.HistoryEvent) {
		e.Attributes = &historypb.HistoryEvent_ActivityTaskScheduledEventAttributes{
			ActivityTaskScheduledEventAttributes: &historypb.ActivityTaskScheduledEventAttributes{
				ActivityId: strconv.FormatInt(e.GetEventId(), 10), ActivityType: &commonpb.ActivityType{Name: workflowv1.MirrorActivity},
				TaskQueue: &taskqueuepb.TaskQueue{Name: "gnomon"}, WorkflowTaskCompletedEventId: completed,
			},
		}
	})
}

// Temporal's own cancellation takes its place among the signals, as history has it:
// cancelled and then revived is a new incarnation, updated and then cancelled is
// deleted.
func TestCancellationInItsPlace(t *testing.T) {
	t.Parallel()
	revive := update(once(nil), "guid-2")
	revive.Revive, revive.CreateOnly, revive.AcceptTime = true, true, timestamppb.New(accepted)
	for name, record := range map[string]func(*history){
		"cancel, revive": func(h *history) {
			h.cancel()
			h.signal(workflowv1.CommandUpdate, revive)
			h.task()
			h.continuedAsNew()
		},
		"revive, cancel": func(h *history) {
			h.signal(workflowv1.CommandUpdate, revive)
			h.cancel()
			h.task()
			h.deleted()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, err := worker.NewWorkflowReplayerWithOptions(worker.WorkflowReplayerOptions{Interceptors: workflows.Interceptors()})
			require.NoError(t, err)
			workflows.New(workflows.Options{}).Register(r)
			h := newHistory(t)
			record(h)
			require.NoError(t, r.ReplayWorkflowHistory(nil, &historypb.History{Events: h.events}))
		})
	}
}
