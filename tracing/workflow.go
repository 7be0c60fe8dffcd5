package tracing

import (
	"context"
	"strconv"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/workflow"
)

// run is one run of a workflow in this worker's cache, or one replay of it.
type run struct {
	tracer trace.Tracer
	info   *workflow.Info
	// cause is the mark of what shaped the run last: its start, an update, a signal.
	// What the run does next goes on from it.
	cause   trace.SpanContext
	signals int
}

// mark is something that happened to a run.
type mark struct {
	name  string
	id    trace.SpanID // the same in every replay
	began time.Time
	err   error
}

// under is the context of a mark within the trace of who caused it, invalid if that is
// in no trace.
func (m mark) under(parent trace.SpanContext) trace.SpanContext {
	if !parent.IsValid() {
		return trace.SpanContext{}
	}
	return parent.WithSpanID(m.id).WithRemote(true)
}

// leave records a mark, which lasts until now.
func (r *run) leave(m mark, parent trace.SpanContext) {
	if !parent.IsValid() {
		return
	}
	ctx := want(trace.ContextWithRemoteSpanContext(context.Background(), parent), wanted{span: m.id})
	_, s := r.tracer.Start(ctx, m.name, trace.WithSpanKind(trace.SpanKindServer), trace.WithTimestamp(m.began), trace.WithAttributes(r.attributes()...))
	if m.err != nil {
		fail(s, m.err)
	}
	// The start is by the server's clock, which may be ahead.
	s.End(trace.WithTimestamp(later(time.Now(), m.began)))
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// attributes are those that the SDK's interceptor gives to its spans.
func (r *run) attributes() []attribute.KeyValue {
	return []attribute.KeyValue{
		attribute.String("temporalWorkflowID", r.info.WorkflowExecution.ID),
		attribute.String("temporalRunID", r.info.WorkflowExecution.RunID),
	}
}

// inbound is what happens to a run.
type inbound struct {
	interceptor.WorkflowInboundInterceptorBase

	run *run
}

// Init implements interceptor.WorkflowInboundInterceptor.
func (i *inbound) Init(next interceptor.WorkflowOutboundInterceptor) error {
	o := &outbound{run: i.run}
	o.Next = next
	return i.Next.Init(o)
}

// ExecuteWorkflow implements interceptor.WorkflowInboundInterceptor.
func (i *inbound) ExecuteWorkflow(ctx workflow.Context, in *interceptor.ExecuteWorkflowInput) (any, error) {
	parent := readHeader(interceptor.WorkflowHeader(ctx))
	m := mark{
		name: "RunWorkflow:" + i.run.info.WorkflowType.Name, id: spanID("run", i.run.info.WorkflowExecution.RunID),
		began: i.run.info.WorkflowStartTime,
	}
	i.run.cause = m.under(parent)
	if !workflow.IsReplaying(ctx) {
		i.run.leave(m, parent)
	}
	return i.Next.ExecuteWorkflow(ctx, in)
}

// HandleSignal implements interceptor.WorkflowInboundInterceptor.
func (i *inbound) HandleSignal(ctx workflow.Context, in *interceptor.HandleSignalInput) error {
	parent := readHeader(interceptor.WorkflowHeader(ctx))
	i.run.signals++
	m := mark{
		name: "HandleSignal:" + in.SignalName, began: time.Now(),
		id: spanID("signal", i.run.info.WorkflowExecution.RunID, strconv.Itoa(i.run.signals)),
	}
	m.err = i.Next.HandleSignal(ctx, in)
	if parent.IsValid() {
		i.run.cause = m.under(parent)
	}
	if !workflow.IsReplaying(ctx) {
		i.run.leave(m, parent)
	}
	return m.err
}

// ExecuteUpdate implements interceptor.WorkflowInboundInterceptor. An update that was
// refused shapes nothing.
func (i *inbound) ExecuteUpdate(ctx workflow.Context, in *interceptor.UpdateInput) (any, error) {
	parent := readHeader(interceptor.WorkflowHeader(ctx))
	m := mark{
		name: "HandleUpdate:" + in.Name, began: time.Now(),
		id: spanID("update", i.run.info.WorkflowExecution.RunID, workflow.GetCurrentUpdateInfo(ctx).ID),
	}
	live := !workflow.IsReplaying(ctx)
	result, err := i.Next.ExecuteUpdate(ctx, in)
	if parent.IsValid() && err == nil {
		i.run.cause = m.under(parent)
	}
	m.err = err
	if live && !workflow.IsReplaying(ctx) {
		i.run.leave(m, parent)
	}
	return result, err
}
