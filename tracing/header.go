package tracing

import (
	"context"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
)

// headerKey is where all of Temporal's SDKs keep a trace's context.
const headerKey = "_tracer-data"

// Header is the header of a bare call of Temporal that starts a workflow: the span of
// ctx. It is nil without one.
func Header(ctx context.Context) *commonpb.Header {
	fields := map[string]*commonpb.Payload{}
	writeHeader(fields, trace.SpanContextFromContext(ctx))
	if len(fields) == 0 {
		return nil
	}
	return &commonpb.Header{Fields: fields}
}

// writeHeader puts a span into a header. One that cannot be encoded is left out: a trace
// is worth no failure.
func writeHeader(fields map[string]*commonpb.Payload, sc trace.SpanContext) {
	if !sc.IsValid() || fields == nil {
		return
	}
	carrier := propagation.MapCarrier{}
	propagator.Inject(trace.ContextWithSpanContext(context.Background(), sc), carrier)
	payload, err := converter.GetDefaultDataConverter().ToPayload(map[string]string(carrier))
	if err == nil {
		fields[headerKey] = payload
	}
}

// readHeader is the span in a header, an invalid one if there is none.
func readHeader(fields map[string]*commonpb.Payload) trace.SpanContext {
	payload := fields[headerKey]
	if payload == nil {
		return trace.SpanContext{}
	}
	var carrier map[string]string
	if err := converter.GetDefaultDataConverter().FromPayload(payload, &carrier); err != nil {
		return trace.SpanContext{}
	}
	return trace.SpanContextFromContext(propagator.Extract(context.Background(), propagation.MapCarrier(carrier)))
}
