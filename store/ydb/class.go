package ydb

import (
	"context"
	"errors"

	"github.com/ydb-platform/ydb-go-genproto/protos/Ydb"
	sdk "github.com/ydb-platform/ydb-go-sdk/v3"
	"google.golang.org/grpc/codes"

	"gnomon/store"
)

// classify says what kind of failure an error of the SDK is, where no caller's context
// ended. The SDK repeats until the call's time is over; its error then has that and what
// the server said until then, which is the reason.
func classify(err error) error {
	switch {
	case sdk.IsOperationError(err, Ydb.StatusIds_UNAUTHORIZED), sdk.IsTransportError(err, codes.Unauthenticated, codes.PermissionDenied):
		return store.Classify(err, store.ClassDenied)
	case sdk.IsOperationError(err, Ydb.StatusIds_ABORTED, Ydb.StatusIds_SESSION_BUSY):
		return store.Classify(err, store.ClassContended)
	case errors.Is(err, ErrClosed), sdk.IsOperationError(err,
		Ydb.StatusIds_UNAVAILABLE, Ydb.StatusIds_OVERLOADED, Ydb.StatusIds_BAD_SESSION, Ydb.StatusIds_SESSION_EXPIRED,
		Ydb.StatusIds_CANCELLED, Ydb.StatusIds_UNDETERMINED, Ydb.StatusIds_EXTERNAL_ERROR):
		return store.Classify(err, store.ClassUnavailable)
	case sdk.IsOperationError(err, Ydb.StatusIds_TIMEOUT), sdk.IsTransportError(err, codes.DeadlineExceeded, codes.Canceled):
		return store.Classify(err, store.ClassTimeout)
	case sdk.IsTransportError(err):
		return store.Classify(err, store.ClassUnavailable)
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		// The SDK may call the end of a call's time a cancellation.
		return store.Classify(err, store.ClassTimeout)
	default:
		return err
	}
}
