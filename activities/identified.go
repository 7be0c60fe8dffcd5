package activities

import (
	"context"
	"log/slog"
	"time"

	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"gnomon/action/life"
	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/logging"
	"gnomon/tracing"
)

// identified has the log and the span of the attempt tell whose it is.
func (a *attempt) identified(ctx context.Context) context.Context {
	request := a.request()
	if span := trace.SpanFromContext(ctx); span.IsRecording() {
		span.SetAttributes(tracing.AttemptAttributes(a.in, request.Attempt)...)
	}
	return logging.With(ctx,
		slog.String(logging.Action, request.ID), slog.String(logging.GUID, request.GUID),
		slog.String(logging.Occurrence, a.in.GetOccurrence().GetDue().AsTime().Format(time.RFC3339Nano)),
		slog.Uint64(logging.Attempt, uint64(request.Attempt)),
	)
}

// tellOutcome has the span tell what the attempt came to, not why: that may hold what the
// other side answered.
func tellOutcome(ctx context.Context, ending life.Ending) {
	span := trace.SpanFromContext(ctx)
	span.SetAttributes(tracing.Outcome.String(ending.Outcome.String()))
	if ending.Outcome != gnomonv1.AttemptStatus_SUCCESS {
		span.SetStatus(codes.Error, "")
	}
}
