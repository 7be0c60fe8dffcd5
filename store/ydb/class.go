package ydb

import (
	"context"
	"errors"

	"github.com/ydb-platform/ydb-go-genproto/protos/Ydb"
	sdk "github.com/ydb-platform/ydb-go-sdk/v3"
	"google.golang.org/grpc/codes"

	"gnomon/store"
)

// classify says what kind of failure an error of the SDK is.
func classify(err error) error {
	switch {
	case sdk.IsOperationError(err, Ydb.StatusIds_UNAUTHORIZED), sdk.IsTransportError(err, codes.Unauthenticated, codes.PermissionDenied):
		return store.Classify(err, store.ClassDenied)
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err // what it says is its class
	case sdk.IsOperationError(err, Ydb.StatusIds_TIMEOUT), sdk.IsTransportError(err, codes.DeadlineExceeded):
		return store.Classify(err, store.ClassTimeout)
	case sdk.IsOperationError(err, Ydb.StatusIds_ABORTED, Ydb.StatusIds_SESSION_BUSY):
		return store.Classify(err, store.ClassContended)
	case sdk.IsTransportError(err), errors.Is(err, ErrClosed), sdk.IsOperationError(err,
		Ydb.StatusIds_UNAVAILABLE, Ydb.StatusIds_OVERLOADED, Ydb.StatusIds_BAD_SESSION, Ydb.StatusIds_SESSION_EXPIRED,
		Ydb.StatusIds_CANCELLED, Ydb.StatusIds_UNDETERMINED, Ydb.StatusIds_EXTERNAL_ERROR):
		return store.Classify(err, store.ClassUnavailable)
	default:
		return err
	}
}
