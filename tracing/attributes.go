package tracing

import "go.opentelemetry.io/otel/attribute"

// Attributes of gnomon's spans. docs/operations.md lists them for operators.
const (
	// EntityKey is the type and the id of an entity with a '/' between.
	EntityKey = attribute.Key("gnomon.entity.key")
	// ActionID is Meta.id.
	ActionID = attribute.Key("gnomon.action.id")
	// ActionGUID is Meta.guid as it was when the occurrence began.
	ActionGUID = attribute.Key("gnomon.action.guid")
	// ActionKind is the case of the oneof Action, such as http_request.
	ActionKind = attribute.Key("gnomon.action.kind")
	// RequestID is the request_id of a call.
	RequestID = attribute.Key("gnomon.request.id")
	// Occurrence is the due time, RFC 3339 in UTC, the same for all its attempts.
	Occurrence = attribute.Key("gnomon.occurrence")
	// Attempt is the attempt's number within its occurrence, from 1.
	Attempt = attribute.Key("gnomon.attempt")
	// Outcome is what the attempt came to: SUCCESS, FAILURE or INTERRUPTED, as in
	// AttemptStatus, or the failure's type where nothing was attempted.
	Outcome = attribute.Key("gnomon.attempt.outcome")

	errorType = attribute.Key("error.type")
)
