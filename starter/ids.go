package starter

import (
	"context"
	"log/slog"

	"go.opentelemetry.io/otel/trace"

	"gnomon/action"
	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/entity"
	"gnomon/logging"
	"gnomon/store"
	"gnomon/tracing"
)

// identified has the log and the span of a call tell which action or entity and which
// request it is about. An id that no action can have is not told: it may be anything.
func identified(ctx context.Context, req any) context.Context {
	span := trace.SpanFromContext(ctx)
	var attrs []slog.Attr
	if key := keyOf(req); key.Type != "" {
		attrs = append(attrs, slog.String(logging.Entity, key.Type+"/"+key.ID))
		span.SetAttributes(tracing.EntityKey.String(key.Type + "/" + key.ID))
	} else if id := idOf(req); id != "" && len(action.ValidateID("id", id)) == 0 {
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

// keyOf is the entity that a request names, empty if it names none or one that cannot be.
func keyOf(req any) store.EntityKey {
	var key store.EntityKey
	switch r := req.(type) {
	case interface {
		GetType() string
		GetId() string
	}:
		key = store.EntityKey{Type: r.GetType(), ID: r.GetId()}
	case interface{ GetEntity() *gnomonv1.Entity }:
		key = store.EntityKey{Type: r.GetEntity().GetType(), ID: r.GetEntity().GetId()}
	}
	if len(entity.ValidateKey("", key.Type, "", key.ID)) > 0 {
		return store.EntityKey{}
	}
	return key
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
