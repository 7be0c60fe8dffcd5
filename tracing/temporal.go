package tracing

import (
	"context"
	"strings"

	"go.opentelemetry.io/otel/trace"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/opentelemetry"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/workflow"
)

// ClientInterceptors are for a Temporal client. The workers made with it take them over.
//
// Calls and activities are traced by the SDK's own interceptor, workflows by one of this
// package: the SDK's keeps a span open for as long as the workflow's state is in the
// worker's cache, ends it when it is evicted, and makes another, with another id, with
// every replay.
func (t *Tracing) ClientInterceptors() []interceptor.ClientInterceptor {
	if t == nil {
		return nil
	}
	return []interceptor.ClientInterceptor{t.interceptor()}
}

// WorkerInterceptors are those of workflows and activities, for workers whose client has
// none of this package and for replayers.
func (t *Tracing) WorkerInterceptors() []interceptor.WorkerInterceptor {
	if t == nil {
		return nil
	}
	return []interceptor.WorkerInterceptor{t.interceptor()}
}

// Client gives the options of a Temporal client with the interceptors.
func (t *Tracing) Client(options client.Options) client.Options {
	options.Interceptors = append(options.Interceptors, t.ClientInterceptors()...)
	return options
}

func (t *Tracing) interceptor() interceptor.Interceptor {
	calls, err := opentelemetry.NewTracingInterceptor(opentelemetry.TracerOptions{
		Tracer:            t.provider.Tracer(scope),
		TextMapPropagator: propagator,
		HeaderKey:         headerKey,
		DisableBaggage:    true,
		// The reconciler asks each open workflow, and every retry asks its own.
		DisableQueryTracing:     true,
		AllowInvalidParentSpans: true,
		SpanStarter:             startCall,
	})
	if err != nil {
		panic(err) // its options are these
	}
	return &temporalInterceptor{calls, t.provider.Tracer(scope)}
}

// startCall begins the span of a call of Temporal or of an activity. What a worker calls
// on its own account, such as to set the reconciler up, is in nobody's trace.
func startCall(ctx context.Context, t trace.Tracer, name string, options ...trace.SpanStartOption) trace.Span {
	if !trace.SpanContextFromContext(ctx).IsValid() && !strings.HasPrefix(name, "RunActivity:") {
		return trace.SpanFromContext(ctx)
	}
	_, s := t.Start(ctx, name, options...) //nolint:spancheck // the SDK's interceptor ends it
	return s                               //nolint:spancheck // the same
}

type temporalInterceptor struct {
	interceptor.Interceptor

	tracer trace.Tracer
}

// InterceptWorkflow implements interceptor.WorkerInterceptor.
func (t *temporalInterceptor) InterceptWorkflow(ctx workflow.Context, next interceptor.WorkflowInboundInterceptor) interceptor.WorkflowInboundInterceptor {
	i := &inbound{run: &run{tracer: t.tracer, info: workflow.GetInfo(ctx)}}
	i.Next = next
	return i
}
