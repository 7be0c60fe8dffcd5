package replay

import (
	"errors"
	"fmt"
	"time"

	"github.com/google/go-cmp/cmp"
	commonpb "go.temporal.io/api/common/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/workflow"
	"google.golang.org/protobuf/proto"

	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/reconcile/periodic"
)

// decisions are what a replayed run wanted, in order: how long timers are to sleep,
// what activities are told, and what it ended with. The SDK's own replay looks only
// at the kinds of commands and their order.
type decisions struct {
	interceptor.WorkerInterceptorBase

	timers     []time.Duration
	activities map[string][]proto.Message
	signals    []proto.Message // to other workflows
	end        proto.Message
	next       *commonpb.Payloads // what the next run was handed
}

// InterceptWorkflow implements interceptor.WorkerInterceptor.
func (d *decisions) InterceptWorkflow(_ workflow.Context, next interceptor.WorkflowInboundInterceptor) interceptor.WorkflowInboundInterceptor {
	in := &inbound{decisions: d}
	in.Next = next
	return in
}

type inbound struct {
	interceptor.WorkflowInboundInterceptorBase

	decisions *decisions
}

// Init implements interceptor.WorkflowInboundInterceptor.
func (i *inbound) Init(next interceptor.WorkflowOutboundInterceptor) error {
	out := &outbound{decisions: i.decisions}
	out.Next = next
	return i.Next.Init(out)
}

// ExecuteWorkflow implements interceptor.WorkflowInboundInterceptor.
func (i *inbound) ExecuteWorkflow(ctx workflow.Context, in *interceptor.ExecuteWorkflowInput) (any, error) {
	result, err := i.Next.ExecuteWorkflow(ctx, in)
	if again, ok := errors.AsType[*workflow.ContinueAsNewError](err); ok {
		i.decisions.next = again.Input
	} else if st, ok := result.(proto.Message); ok && err == nil {
		i.decisions.end = proto.Clone(st)
	}
	return result, err
}

type outbound struct {
	interceptor.WorkflowOutboundInterceptorBase

	decisions *decisions
}

// ExecuteActivity implements interceptor.WorkflowOutboundInterceptor.
func (o *outbound) ExecuteActivity(ctx workflow.Context, name string, args ...any) workflow.Future {
	for _, a := range args {
		if m, ok := a.(proto.Message); ok {
			o.decisions.activities[name] = append(o.decisions.activities[name], proto.Clone(m))
		}
	}
	return o.Next.ExecuteActivity(ctx, name, args...)
}

// SignalExternalWorkflow implements interceptor.WorkflowOutboundInterceptor.
func (o *outbound) SignalExternalWorkflow(ctx workflow.Context, id, run, name string, arg any) workflow.Future {
	if m, ok := arg.(proto.Message); ok {
		o.decisions.signals = append(o.decisions.signals, proto.Clone(m))
	}
	return o.Next.SignalExternalWorkflow(ctx, id, run, name, arg)
}

// NewTimerWithOptions implements interceptor.WorkflowOutboundInterceptor.
func (o *outbound) NewTimerWithOptions(ctx workflow.Context, sleep time.Duration, options workflow.TimerOptions) workflow.Future {
	o.decisions.timers = append(o.decisions.timers, sleep)
	return o.Next.NewTimerWithOptions(ctx, sleep, options)
}

// compare says at which event the history has something else. What was decided and
// taken back within one task is not in the history.
func (d *decisions) compare(h *historypb.History) error {
	for _, e := range h.GetEvents() {
		if err := d.compareEvent(h, e); err != nil {
			return fmt.Errorf("event %d, %s: %w", e.GetEventId(), e.GetEventType(), err)
		}
	}
	return nil
}

func (d *decisions) compareEvent(h *historypb.History, e *historypb.HistoryEvent) error {
	switch {
	case e.GetTimerStartedEventAttributes() != nil:
		timer := e.GetTimerStartedEventAttributes()
		return d.compareTimer(timer.GetStartToFireTimeout().AsDuration(), took(h, e, timer.GetWorkflowTaskCompletedEventId()))
	case e.GetActivityTaskScheduledEventAttributes() != nil:
		a := e.GetActivityTaskScheduledEventAttributes()
		return d.compareActivity(a.GetActivityType().GetName(), a.GetInput())
	case e.GetSignalExternalWorkflowExecutionInitiatedEventAttributes() != nil:
		return d.compareSignal(e.GetSignalExternalWorkflowExecutionInitiatedEventAttributes().GetInput())
	case e.GetWorkflowExecutionCompletedEventAttributes() != nil:
		return d.compareEnd(e.GetWorkflowExecutionCompletedEventAttributes().GetResult())
	case e.GetWorkflowExecutionContinuedAsNewEventAttributes() != nil:
		next := e.GetWorkflowExecutionContinuedAsNewEventAttributes()
		return d.compareNext(next.GetWorkflowType().GetName(), next.GetInput())
	default:
		return nil
	}
}

// took is how long the task had been under way, by its completion's id, at an event that it
// made.
func took(h *historypb.History, e *historypb.HistoryEvent, completed int64) time.Duration {
	all := h.GetEvents()
	if completed < 1 || completed > int64(len(all)) {
		return 0
	}
	started := all[completed-1].GetWorkflowTaskCompletedEventAttributes().GetStartedEventId()
	if started < 1 || started > int64(len(all)) {
		return 0
	}
	return e.GetEventTime().AsTime().Sub(all[started-1].GetEventTime().AsTime())
}

// compareTimer compares how long a timer sleeps. Workers send it shorter by what is certain
// of the time that its task took (worker.Connection).
func (d *decisions) compareTimer(recorded, took time.Duration) error {
	for n, sleep := range d.timers {
		if shorter := sleep - recorded; shorter >= 0 && shorter <= took {
			d.timers = d.timers[n+1:]
			return nil
		}
	}
	return fmt.Errorf("a timer of %s was recorded, decided is %v", recorded, d.timers)
}

func (d *decisions) compareActivity(name string, input *commonpb.Payloads) error {
	switch name {
	case periodic.ActivityName, workflowv1.ClusterNodesActivity, workflowv1.CountEntitiesActivity:
		return nil // it is told nothing, or the name of a cluster or a type, which never changes
	}
	recorded := inputOf(name)
	if recorded == nil {
		return fmt.Errorf("no activity is called %q", name)
	}
	if err := read(input, recorded); err != nil {
		return err
	}
	for n, decided := range d.activities[name] {
		if same(decided, recorded) {
			d.activities[name] = d.activities[name][n+1:]
			return nil
		}
	}
	if len(d.activities[name]) == 0 {
		return fmt.Errorf("%s was recorded, decided is nothing of the kind", name)
	}
	return fmt.Errorf("%s was recorded with another input (-recorded +decided):\n%s", name, difference(recorded, d.activities[name][0]))
}

// compareSignal compares what another workflow is told.
func (d *decisions) compareSignal(input *commonpb.Payloads) error {
	recorded := &workflowv1.PlaybookProgress{}
	if err := read(input, recorded); err != nil {
		return err
	}
	for n, decided := range d.signals {
		if same(decided, recorded) {
			d.signals = d.signals[n+1:]
			return nil
		}
	}
	return fmt.Errorf("this signal was recorded, decided is none of the kind: %v", recorded)
}

// inputOf is an empty input of an activity, nil if there is none of this name.
func inputOf(name string) proto.Message {
	switch name {
	case workflowv1.PerformActivity:
		return &workflowv1.PerformInput{}
	case workflowv1.MirrorActivity:
		return &workflowv1.MirrorInput{}
	case workflowv1.AcceptBatchActivity:
		return &workflowv1.AcceptBatchInput{}
	case workflowv1.StoreBatchActivity:
		return &workflowv1.StoreBatchInput{}
	case workflowv1.ProcessBatchActivity, workflowv1.AbandonBatchActivity:
		return &workflowv1.ProcessBatchInput{}
	case workflowv1.NotifyBatchActivity:
		return &workflowv1.NotifyBatchInput{}
	case workflowv1.AskStagesActivity:
		return &workflowv1.AskInput{}
	case workflowv1.ProcessActivity:
		return &workflowv1.VisitInput{}
	case workflowv1.PublishSavedActivity:
		return &workflowv1.PublishSavedInput{}
	case workflowv1.MirrorQueueActivity:
		return &workflowv1.MirrorQueueInput{}
	case workflowv1.RewalkPageActivity:
		return &workflowv1.RewalkPageInput{}
	case workflowv1.StoreRewalkActivity:
		return &workflowv1.StoreRewalkInput{}
	case workflowv1.AgentSyncActivity:
		return &workflowv1.AgentSyncInput{}
	case workflowv1.AgentPushActivity:
		return &workflowv1.AgentPushInput{}
	case workflowv1.AgentCancelActivity:
		return &workflowv1.AgentCancelInput{}
	case workflowv1.MirrorNodesActivity:
		return &workflowv1.MirrorNodesInput{}
	case workflowv1.MirrorPlaybookActivity:
		return &workflowv1.MirrorPlaybookInput{}
	case workflowv1.ClusterCommandActivity:
		return &workflowv1.ClusterCommandInput{}
	default:
		return nil
	}
}

var errNoEnd = errors.New("this end was recorded, decided is none")

func (d *decisions) compareEnd(p *commonpb.Payloads) error {
	if d.end == nil && len(p.GetPayloads()) == 0 {
		return nil // an entity's run has no result
	}
	if d.end == nil {
		return errNoEnd
	}
	recorded := d.end.ProtoReflect().New().Interface()
	if err := read(p, recorded); err != nil {
		return err
	}
	if !same(d.end, recorded) {
		return otherEnd(difference(recorded, d.end))
	}
	return nil
}

// compareNext compares what the next run of a workflow is handed.
func (d *decisions) compareNext(workflowType string, p *commonpb.Payloads) error {
	if d.next == nil {
		return errNoEnd
	}
	switch workflowType {
	case workflowv1.ActionWorkflow:
		return d.compareState(p, &workflowv1.ActionState{}, &workflowv1.ActionState{})
	case workflowv1.BatchWorkflow:
		return d.compareState(p, &workflowv1.BatchState{}, &workflowv1.BatchState{})
	case workflowv1.EntityWorkflow:
		return d.compareState(p, &workflowv1.EntityState{}, &workflowv1.EntityState{})
	case workflowv1.RewalkWorkflow:
		return d.compareState(p, &workflowv1.RewalkState{}, &workflowv1.RewalkState{})
	case workflowv1.ClusterWorkflow:
		return d.compareState(p, &workflowv1.ClusterState{}, &workflowv1.ClusterState{})
	case workflowv1.PlaybookWorkflow:
		return d.compareState(p, &workflowv1.PlaybookState{}, &workflowv1.PlaybookState{})
	case periodic.WorkflowName:
		var recorded, decided periodic.State
		if err := errors.Join(read(p, &recorded), read(d.next, &decided)); err != nil {
			return err
		}
		if found := cmp.Diff(recorded, decided); found != "" {
			return otherEnd(found)
		}
	default:
		return fmt.Errorf("no workflow is called %q", workflowType)
	}
	return nil
}

// compareState reads and compares the states that the next run was and would be handed.
func (d *decisions) compareState(p *commonpb.Payloads, recorded, decided proto.Message) error {
	if err := errors.Join(read(p, recorded), read(d.next, decided)); err != nil {
		return err
	}
	if !same(decided, recorded) {
		return otherEnd(difference(recorded, decided))
	}
	return nil
}

func otherEnd(how string) error {
	return fmt.Errorf("another end was recorded (-recorded +decided):\n%s", how)
}

func read(p *commonpb.Payloads, into any) error {
	return converter.GetDefaultDataConverter().FromPayloads(p, into)
}
