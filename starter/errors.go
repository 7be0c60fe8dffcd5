package starter

import (
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/protoadapt"
	"google.golang.org/protobuf/types/known/durationpb"

	"gnomon/action"
)

// errorDomain is the domain of every ErrorInfo that gnomon gives (P-01).
const errorDomain = "gnomon"

// Reasons of errors that are not the fault of one field. Those of
// INVALID_ARGUMENT are the rules of the violations.
const (
	reasonActionNotFound      = "ACTION_NOT_FOUND"
	reasonActionAlreadyExists = "ACTION_ALREADY_EXISTS"
	reasonEtagMismatch        = "ETAG_MISMATCH"
	reasonStoreUnavailable    = "STORE_UNAVAILABLE"
	reasonTooManyRequests     = "TOO_MANY_REQUESTS"
	reasonDeadlineExceeded    = "DEADLINE_EXCEEDED"
	reasonCancelled           = "CANCELLED"
	reasonPanic               = "PANIC"
	reasonStopping            = "SERVER_STOPPING"
)

// maxMessageViolations bounds how many violations the message repeats; the
// details hold all of them.
const maxMessageViolations = 3

// maxMetadataValue bounds the values repeated in an ErrorInfo, in bytes.
const maxMetadataValue = 256

// refusal is an error as the caller sees it, with the cause that only the log
// sees: causes may name hosts.
type refusal struct {
	status *status.Status
	cause  error
}

// Error is the message that the caller gets.
func (r *refusal) Error() string { return r.status.Message() }

// GRPCStatus makes gRPC answer with the status and its details.
func (r *refusal) GRPCStatus() *status.Status { return r.status }

// Unwrap gives the cause, for errors.Is and for the log.
func (r *refusal) Unwrap() error { return r.cause }

// refuse makes the error of one code and reason; every error of the facade comes
// from here. Metadata repeats the dynamic values of the message (AIP-193).
func refuse(code codes.Code, reason, message string, metadata map[string]string, details ...protoadapt.MessageV1) *refusal {
	kept := maps.Clone(metadata)
	for key, value := range kept {
		kept[key] = clip(value, maxMetadataValue)
	}
	info := &errdetails.ErrorInfo{Reason: reason, Domain: errorDomain, Metadata: kept}
	st := status.New(code, message)
	// WithDetails fails only for OK or a detail that cannot be encoded; then the
	// bare status is still the truth.
	if detailed, err := st.WithDetails(append([]protoadapt.MessageV1{info}, details...)...); err == nil {
		st = detailed
	}
	return &refusal{status: st}
}

// because keeps the cause for the log.
func (r *refusal) because(cause error) *refusal {
	r.cause = cause
	return r
}

// invalid turns the violations of one request into INVALID_ARGUMENT: a
// BadRequest that lists all, and an ErrorInfo whose reason is the first one's
// rule. Prefix is the path of the validated message within the request, such as
// "action", or empty. It is nil where there are no violations.
func invalid(violations []action.Violation, prefix string) error {
	if len(violations) == 0 {
		return nil
	}
	bad := &errdetails.BadRequest{}
	sentences := make([]string, 0, maxMessageViolations)
	for i, v := range violations {
		field := joinPath(prefix, v.Field)
		bad.FieldViolations = append(bad.FieldViolations, &errdetails.BadRequest_FieldViolation{
			Field: field, Description: v.Description, Reason: v.Rule,
		})
		if i < maxMessageViolations {
			sentences = append(sentences, sentence(field, v.Description))
		}
	}
	message := strings.Join(sentences, "; ")
	if more := len(violations) - maxMessageViolations; more > 0 {
		message += fmt.Sprintf("; and %d more", more)
	}
	return refuse(codes.InvalidArgument, violations[0].Rule, message, map[string]string{
		"field":      bad.GetFieldViolations()[0].GetField(),
		"violations": strconv.Itoa(len(violations)),
	}, bad)
}

// invalidField is invalid for one field of the request itself.
func invalidField(field, rule, description string) error {
	return invalid([]action.Violation{{Field: field, Rule: rule, Description: description}}, "")
}

// notFound says that no action of this id is alive, nor ended within its
// tombstone's time.
func notFound(id string) error {
	return refuse(codes.NotFound, reasonActionNotFound,
		fmt.Sprintf("no action %q", clip(id, maxMetadataValue)), map[string]string{"id": id})
}

// alreadyExists says that an action of this id is alive (M-08).
func alreadyExists(id string) error {
	return refuse(codes.AlreadyExists, reasonActionAlreadyExists,
		fmt.Sprintf("an action %q is alive; update it, or delete it first", clip(id, maxMetadataValue)), map[string]string{"id": id})
}

// etagMismatch says that the action changed since the caller read it (AIP-154:
// ABORTED). The current etag is not told, so that nobody writes over what they
// have not read.
func etagMismatch(id string) error {
	return refuse(codes.Aborted, reasonEtagMismatch,
		fmt.Sprintf("action %q has changed since its etag was read; read it again", clip(id, maxMetadataValue)), map[string]string{"id": id})
}

// failedPrecondition says that the action's state does not allow the command,
// such as resuming what is not paused. State is what the caller sees in
// Status.state.
func failedPrecondition(reason, id, state string) error {
	return refuse(codes.FailedPrecondition, reason,
		fmt.Sprintf("this call is refused while action %q is %s", clip(id, maxMetadataValue), state),
		map[string]string{"id": id, "state": state},
		&errdetails.PreconditionFailure{Violations: []*errdetails.PreconditionFailure_Violation{{
			Type: reason, Subject: id, Description: "the action's state is " + state,
		}}})
}

// unavailable says that something behind the facade does not answer; the same
// call may be made again after a while. The cause is only logged.
func unavailable(reason, message string, cause error) error {
	return refuse(codes.Unavailable, reason, message, nil, retryAfter(time.Second)).because(cause)
}

// resourceExhausted says that the caller is to slow down, and for how long.
func resourceExhausted(delay time.Duration, cause error) error {
	return refuse(codes.ResourceExhausted, reasonTooManyRequests,
		"too many requests; try again later", nil, retryAfter(delay)).because(cause)
}

// internal is a bug of gnomon or a broken installation. The cause is only logged.
func internal(reason, message string, cause error) error {
	return refuse(codes.Internal, reason, message, nil).because(cause)
}

// retryAfter is the detail that tells when to try again.
func retryAfter(delay time.Duration) *errdetails.RetryInfo {
	return &errdetails.RetryInfo{RetryDelay: durationpb.New(delay)}
}

// joinPath joins the path of a message and one within it; either may be empty.
func joinPath(prefix, field string) string {
	if prefix == "" || field == "" {
		return prefix + field
	}
	return prefix + "." + field
}

// sentence names the field and the rule.
func sentence(field, description string) string {
	if field == "" {
		return description
	}
	return field + ": " + description
}

// clip shortens text to at most size bytes of valid UTF-8.
func clip(text string, size int) string {
	if len(text) > size {
		text = text[:size]
	}
	return strings.ToValidUTF8(text, "")
}
