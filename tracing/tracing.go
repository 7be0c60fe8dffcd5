package tracing

import (
	"context"

	"go.opentelemetry.io/otel/propagation"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// scope names gnomon's own spans' instrumentation.
const scope = "gnomon"

// propagator is W3C's traceparent and tracestate. Baggage is not passed on: it is the
// caller's and may hold anything.
var propagator = propagation.TraceContext{}

// Tracing is where the spans of a process go. A nil *Tracing is none: all methods may
// be called and do nothing.
type Tracing struct {
	provider trace.TracerProvider
	sdk      *sdktrace.TracerProvider
}

// New makes a Tracing of the SDK's options, such as an exporter, a sampler and a
// resource. Processes use [FromEnvironment].
func New(options ...sdktrace.TracerProviderOption) *Tracing {
	sdk := sdktrace.NewTracerProvider(append(options, sdktrace.WithIDGenerator(ids{}))...)
	return &Tracing{provider: provider{sdk}, sdk: sdk}
}

// Provider is for instrumentation: a provider whose spans tell no error texts. It is nil
// without tracing.
func (t *Tracing) Provider() trace.TracerProvider {
	if t == nil {
		return nil
	}
	return t.provider
}

// Shutdown exports what waits, for as long as ctx allows.
func (t *Tracing) Shutdown(ctx context.Context) error {
	if t == nil {
		return nil
	}
	return t.sdk.Shutdown(ctx)
}
