package tracing

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/workflow"
)

// outbound is what a run does. In a replay it is done already, with its header.
type outbound struct {
	interceptor.WorkflowOutboundInterceptorBase

	run *run
}

// ExecuteActivity implements interceptor.WorkflowOutboundInterceptor.
func (o *outbound) ExecuteActivity(ctx workflow.Context, activityType string, args ...any) workflow.Future {
	o.start(ctx, "StartActivity:"+activityType, subjectOf(args))
	return o.Next.ExecuteActivity(ctx, activityType, args...)
}

// ExecuteLocalActivity implements interceptor.WorkflowOutboundInterceptor.
func (o *outbound) ExecuteLocalActivity(ctx workflow.Context, activityType string, args ...any) workflow.Future {
	o.start(ctx, "StartActivity:"+activityType, subjectOf(args))
	return o.Next.ExecuteLocalActivity(ctx, activityType, args...)
}

// ExecuteChildWorkflow implements interceptor.WorkflowOutboundInterceptor.
func (o *outbound) ExecuteChildWorkflow(ctx workflow.Context, childType string, args ...any) workflow.ChildWorkflowFuture {
	o.start(ctx, "StartChildWorkflow:"+childType, subject{})
	return o.Next.ExecuteChildWorkflow(ctx, childType, args...)
}

// SignalExternalWorkflow implements interceptor.WorkflowOutboundInterceptor.
func (o *outbound) SignalExternalWorkflow(ctx workflow.Context, workflowID, runID, signalName string, arg any) workflow.Future {
	o.start(ctx, "SignalExternalWorkflow:"+signalName, subject{})
	return o.Next.SignalExternalWorkflow(ctx, workflowID, runID, signalName, arg)
}

// SignalChildWorkflow implements interceptor.WorkflowOutboundInterceptor.
func (o *outbound) SignalChildWorkflow(ctx workflow.Context, workflowID, signalName string, arg any) workflow.Future {
	o.start(ctx, "SignalChildWorkflow:"+signalName, subject{})
	return o.Next.SignalChildWorkflow(ctx, workflowID, signalName, arg)
}

// NewContinueAsNewError implements interceptor.WorkflowOutboundInterceptor: the next run
// goes on from where this one does.
func (o *outbound) NewContinueAsNewError(ctx workflow.Context, wfn any, args ...any) error {
	writeHeader(interceptor.WorkflowHeader(ctx), o.run.cause)
	return o.Next.NewContinueAsNewError(ctx, wfn, args...)
}

// GetLogger implements interceptor.WorkflowOutboundInterceptor.
func (o *outbound) GetLogger(ctx workflow.Context) log.Logger {
	logger := o.Next.GetLogger(ctx)
	if !o.run.cause.IsValid() {
		return logger
	}
	return log.With(logger, "trace_id", o.run.cause.TraceID().String(), "span_id", o.run.cause.SpanID().String())
}

// start leaves the mark of something that the run starts and puts it into its header.
func (o *outbound) start(ctx workflow.Context, name string, about subject) {
	if workflow.IsReplaying(ctx) {
		return
	}
	options := []trace.SpanStartOption{
		trace.WithSpanKind(trace.SpanKindClient),
		trace.WithAttributes(append(o.run.attributes(), about.attributes...)...),
	}
	within := want(context.Background(), wanted{trace: about.trace})
	switch cause := o.run.cause; {
	case !cause.IsValid():
	case about.trace.IsValid():
		options = append(options, trace.WithLinks(trace.Link{SpanContext: cause, Attributes: []attribute.KeyValue{linkCause}}))
	default:
		within = trace.ContextWithRemoteSpanContext(context.Background(), cause)
	}
	_, s := o.run.tracer.Start(within, name, options...)
	s.End()
	writeHeader(interceptor.WorkflowHeader(ctx), s.SpanContext())
}

// linkCause says what a link of an occurrence leads to.
var linkCause = attribute.String("gnomon.link", "cause")
