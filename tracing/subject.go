package tracing

import (
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"gnomon/action"
	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
)

// subject is what an activity is about.
type subject struct {
	attributes []attribute.KeyValue
	// trace is the trace of its own that it begins, none if it is in its cause's.
	trace trace.TraceID
}

// subjectOf knows the inputs of gnomon's activities.
func subjectOf(args []any) subject {
	if len(args) != 1 {
		return subject{}
	}
	switch in := args[0].(type) {
	case *workflowv1.PerformInput:
		s := subject{attributes: occurrenceOf(in)}
		tick := in.GetSpec().GetSendPolicy().GetSendPeriodicallyPolicy() != nil
		if tick && in.GetOccurrence().GetWaitingTick() == nil {
			s.trace = traceID("occurrence", action.IdempotencyKey(owner(in), in.GetOccurrence().GetDue().AsTime()))
		}
		return s
	case *workflowv1.MirrorInput:
		return subject{attributes: []attribute.KeyValue{
			ActionID.String(in.GetAction().GetMeta().GetId()), ActionGUID.String(in.GetAction().GetMeta().GetGuid()),
		}}
	default:
		return subject{}
	}
}

// owner is the action as it was when the occurrence began.
func owner(in *workflowv1.PerformInput) *gnomonv1.Meta {
	m := &gnomonv1.Meta{Id: in.GetMeta().GetId(), Guid: in.GetOccurrence().GetGuid()}
	if m.GetGuid() == "" {
		m.Guid = in.GetMeta().GetGuid()
	}
	return m
}

func occurrenceOf(in *workflowv1.PerformInput) []attribute.KeyValue {
	m := owner(in)
	return []attribute.KeyValue{
		ActionID.String(m.GetId()), ActionGUID.String(m.GetGuid()),
		ActionKind.String(action.Kind(in.GetSpec().GetAction())),
		Occurrence.String(in.GetOccurrence().GetDue().AsTime().Format(time.RFC3339Nano)),
	}
}

// AttemptAttributes are those of an attempt's span.
func AttemptAttributes(in *workflowv1.PerformInput, number uint32) []attribute.KeyValue {
	return append(occurrenceOf(in), Attempt.Int64(int64(number)))
}
