package starter

import (
	"context"
	"errors"
	"math"
	"net/http"
	"strconv"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// writeError answers with the error as google.rpc.Status in JSON, details
// included, and with Retry-After where there is a RetryInfo.
func writeError(ctx context.Context, mux *runtime.ServeMux, marshaler runtime.Marshaler, w http.ResponseWriter, r *http.Request, err error) {
	code := 0
	if fixed, ok := errors.AsType[*runtime.HTTPStatusError](err); ok {
		code, err = fixed.HTTPStatus, fixed.Err
	}
	err = complete(err)
	for _, detail := range status.Convert(err).Details() {
		if retry, ok := detail.(*errdetails.RetryInfo); ok {
			seconds := math.Ceil(retry.GetRetryDelay().AsDuration().Seconds())
			w.Header().Set("Retry-After", strconv.Itoa(int(seconds)))
		}
	}
	if code != 0 {
		err = &runtime.HTTPStatusError{HTTPStatus: code, Err: err}
	}
	runtime.DefaultHTTPErrorHandler(ctx, mux, marshaler, w, r, err)
}

// streamError is the last line of a stream that broke.
func streamError(_ context.Context, err error) *status.Status {
	return status.Convert(complete(err))
}

// writeRoutingError answers what no method of the service is made for.
func writeRoutingError(ctx context.Context, mux *runtime.ServeMux, marshaler runtime.Marshaler, w http.ResponseWriter, r *http.Request, code int) {
	var err error
	switch code {
	case http.StatusNotFound:
		err = refuse(codes.NotFound, "UNKNOWN_PATH", "there is nothing at this path; /openapi.json lists what there is", nil)
	case http.StatusMethodNotAllowed:
		err = refuse(codes.Unimplemented, "METHOD_NOT_ALLOWED", "this path does not know the method "+clip(r.Method, 16), nil)
	default:
		err = refuse(codes.InvalidArgument, "BAD_PATH", "the path of the request cannot be read", nil)
	}
	writeError(ctx, mux, marshaler, w, r, &runtime.HTTPStatusError{HTTPStatus: code, Err: err})
}

// errCrossOrigin refuses a browser's request from a page of another origin.
func errCrossOrigin() error {
	return refuse(codes.PermissionDenied, "CROSS_ORIGIN", "a page of another origin must not call this", nil)
}

// errTooLarge refuses a body above the limit.
func errTooLarge(limit int) error {
	return &runtime.HTTPStatusError{
		HTTPStatus: http.StatusRequestEntityTooLarge,
		Err:        invalidField("body", ruleTooLarge, "must be at most "+strconv.Itoa(limit)+" bytes"),
	}
}

// jsonMarshaler is what answers r.
func jsonMarshaler(mux *runtime.ServeMux, r *http.Request) runtime.Marshaler {
	_, outbound := runtime.MarshalerForRequest(mux, r)
	return outbound
}
