package starter

import (
	"context"
	"log/slog"

	"go.opentelemetry.io/otel/trace"

	"gnomon/action"
	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/logging"
	"gnomon/tracing"
)

// identified has the log and the span of a call tell which action and request it is
// about. An id that no action can have is not told: it may be anything.
func identified(ctx context.Context, req any) context.Context {
	span := trace.SpanFromContext(ctx)
	var attrs []slog.Attr
	if id := idOf(req); id != "" && len(action.ValidateID("id", id)) == 0 {
		attrs = append(attrs, slog.String(logging.Action, id))
		span.SetAttributes(tracing.ActionID.String(id))
	}
	if r, ok := req.(interface{ GetRequestId() string }); ok && r.GetRequestId() != "" && len(requestIDRule(r.GetRequestId())) == 0 {
		attrs = append(attrs, slog.String(logging.RequestID, r.GetRequestId()))
		span.SetAttributes(tracing.RequestID.String(r.GetRequestId()))
	}
	if len(attrs) == 0 {
		return ctx
	}
	return logging.With(ctx, attrs...)
}

// idOf is the id of the action that a request names, empty if it names none.
func idOf(req any) string {
	switch r := req.(type) {
	case interface{ GetId() string }:
		return r.GetId()
	case interface {
		GetAction() *gnomonv1.ScheduledAction
	}:
		return r.GetAction().GetMeta().GetId()
	default:
		return ""
	}
}
