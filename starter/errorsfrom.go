package starter

import (
	"context"
	"errors"
	"time"

	"go.temporal.io/api/serviceerror"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// exhaustedDelay is how long callers are told to wait when Temporal limits us:
// its own limits are counted by the second.
const exhaustedDelay = time.Second

// temporalErrors is what becomes of an error of Temporal, by its code. What
// Temporal says about our credentials or our requests is our fault and not the
// caller's, so it never reaches him as PERMISSION_DENIED or INVALID_ARGUMENT.
var temporalErrors = map[codes.Code]struct {
	code    codes.Code
	reason  string
	message string
}{
	codes.Unavailable:        {codes.Unavailable, "TEMPORAL_UNAVAILABLE", "Temporal does not answer; try again later"},
	codes.DeadlineExceeded:   {codes.DeadlineExceeded, reasonDeadlineExceeded, "Temporal did not answer in time; whether the call took effect is not known"},
	codes.Canceled:           {codes.Canceled, reasonCancelled, "the call was cancelled"},
	codes.Aborted:            {codes.Unavailable, "TEMPORAL_BUSY", "Temporal was busy with another call for this action; try again"},
	codes.FailedPrecondition: {codes.Unavailable, "TEMPORAL_NOT_READY", "Temporal is not ready for this call; try again later"},
	codes.PermissionDenied:   {codes.Internal, "TEMPORAL_ACCESS_DENIED", "Temporal denies gnomon access; its credentials must be set right"},
	codes.Unauthenticated:    {codes.Internal, "TEMPORAL_ACCESS_DENIED", "Temporal denies gnomon access; its credentials must be set right"},
	codes.InvalidArgument:    {codes.Internal, "TEMPORAL_REFUSED", "Temporal refused what gnomon asked of it"},
	codes.Unimplemented:      {codes.Internal, "TEMPORAL_TOO_OLD", "this version of Temporal does not know a call that gnomon needs"},
}

// fromTemporal maps an error of Temporal's client for a call about the action id.
// An error that already has gnomon's details is passed on, nil stays nil, and
// what is not known is INTERNAL. The original is kept as the cause, for the log.
func fromTemporal(err error, id string) error {
	if err == nil {
		return nil
	}
	if known, ok := errors.AsType[*refusal](err); ok {
		return known
	}
	if late := fromContext(err); late != nil {
		return late
	}
	if _, ok := errors.AsType[*serviceerror.WorkflowExecutionAlreadyStarted](err); ok {
		return alreadyExists(id)
	}
	if _, ok := errors.AsType[*serviceerror.NamespaceNotFound](err); ok {
		return refuse(codes.FailedPrecondition, "TEMPORAL_NAMESPACE_NOT_FOUND",
			"Temporal has no such namespace; it must be registered, or gnomon told another", nil).because(err)
	}
	code := temporalCode(err)
	switch code { //nolint:exhaustive // the others are in the table
	case codes.NotFound:
		return notFound(id)
	case codes.AlreadyExists:
		return alreadyExists(id)
	case codes.ResourceExhausted:
		return resourceExhausted(exhaustedDelay, err)
	}
	entry, ok := temporalErrors[code]
	if !ok {
		return internal("TEMPORAL_FAILED", "Temporal failed", err)
	}
	if entry.code == codes.Unavailable {
		return unavailable(entry.reason, entry.message, err)
	}
	return refuse(entry.code, entry.reason, entry.message, nil).because(err)
}

// temporalCode is the code of a service error of Temporal, wrapped or not, or of a
// bare gRPC status.
func temporalCode(err error) codes.Code {
	if typed, ok := errors.AsType[serviceerror.ServiceError](err); ok {
		return typed.Status().Code()
	}
	return status.Code(err)
}

// fromStore maps an error of the store. Whatever is wrong there, Temporal still
// has the truth, so it is UNAVAILABLE and never NOT_FOUND.
func fromStore(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return fromContext(ctx.Err())
	}
	return unavailable(reasonStoreUnavailable, "the store does not answer; try again later", err)
}

// fromContext maps the end of the caller's own context, or gives nil.
func fromContext(err error) error {
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return refuse(codes.DeadlineExceeded, reasonDeadlineExceeded,
			"the call took longer than its deadline; whether it took effect is not known", nil).because(err)
	case errors.Is(err, context.Canceled):
		return refuse(codes.Canceled, reasonCancelled, "the call was cancelled", nil).because(err)
	}
	return nil
}
