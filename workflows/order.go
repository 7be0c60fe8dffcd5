package workflows

import (
	"strings"

	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/workflow"

	workflowv1 "gnomon/api/gnomon/workflow/v1"
)

// Interceptors returns what every worker and replayer of these workflows needs.
//
// A pause and a resume that were accepted while no worker ran must be applied in
// the order they were accepted in, but the SDK gives every signal name a channel of
// its own. The interceptor sees each signal in the order of history and notes its
// name, and whether the run's cancellation had been requested before it.
func Interceptors() []interceptor.WorkerInterceptor {
	return []interceptor.WorkerInterceptor{&ordering{}}
}

// ordered are the types of workflows that take their signals in this order.
var ordered = map[string]bool{workflowv1.ActionWorkflow: true, workflowv1.BatchWorkflow: true}

type ordering struct {
	interceptor.WorkerInterceptorBase
}

// InterceptWorkflow implements interceptor.WorkerInterceptor.
func (*ordering) InterceptWorkflow(_ workflow.Context, next interceptor.WorkflowInboundInterceptor) interceptor.WorkflowInboundInterceptor {
	o := &orderedInbound{arrivals: &arrivals{}}
	o.Next = next
	return o
}

// arrivals are the signals of one run that wait to be applied, oldest first.
type arrivals struct{ signals []arrival }

type arrival struct {
	name string
	// afterCancel: the run's cancellation had been requested when it came.
	afterCancel bool
}

type arrivalsKey struct{}

type orderedInbound struct {
	interceptor.WorkflowInboundInterceptorBase
	arrivals *arrivals
}

// ExecuteWorkflow implements interceptor.WorkflowInboundInterceptor.
func (o *orderedInbound) ExecuteWorkflow(ctx workflow.Context, in *interceptor.ExecuteWorkflowInput) (any, error) {
	return o.Next.ExecuteWorkflow(workflow.WithValue(ctx, arrivalsKey{}, o.arrivals), in)
}

// HandleSignal implements interceptor.WorkflowInboundInterceptor.
func (o *orderedInbound) HandleSignal(ctx workflow.Context, in *interceptor.HandleSignalInput) error {
	if !strings.HasPrefix(in.SignalName, "__") && ordered[workflow.GetInfo(ctx).WorkflowType.Name] {
		o.arrivals.signals = append(o.arrivals.signals, arrival{in.SignalName, ctx.Err() != nil})
	}
	return o.Next.HandleSignal(ctx, in)
}

// arrived gives the arrivals of the run that ctx belongs to.
func arrived(ctx workflow.Context) *arrivals {
	a, ok := ctx.Value(arrivalsKey{}).(*arrivals)
	if !ok {
		// A bug in how the worker was put together fails the task, not the run.
		panic("workflows: the worker lacks workflows.Interceptors()")
	}
	return a
}
