package starter

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/serviceerror"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"gnomon/action"
)

// namedErrors are the errors of the facade by a name that is also the id which
// makes the fake service answer with it.
var namedErrors = map[string]func() error{
	"not-found":      func() error { return notFound("not-found") },
	"already-exists": func() error { return alreadyExists("already-exists") },
	"etag":           func() error { return etagMismatch("etag") },
	"precondition":   func() error { return failedPrecondition("NOT_PAUSED", "precondition", "RUNNING") },
	"unavailable": func() error {
		return unavailable("TEMPORAL_UNAVAILABLE", "Temporal does not answer", errors.New("10.0.0.7"))
	},
	"exhausted": func() error { return resourceExhausted(1500*time.Millisecond, nil) },
	"bare":      func() error { return status.Error(codes.OutOfRange, "bare") },
	"unknown":   func() error { return errors.New("10.0.0.7 said no") },
	"late":      func() error { return fmt.Errorf("wrapped: %w", context.DeadlineExceeded) },
}

// requireReason holds that err has the code and an ErrorInfo of gnomon with the
// reason, and gives the ErrorInfo.
func requireReason(t require.TestingT, err error, code codes.Code, reason string) *errdetails.ErrorInfo {
	require.Error(t, err)
	st := status.Convert(err)
	require.Equal(t, code, st.Code(), "%v", err)
	require.NotEmpty(t, st.Message())
	for _, detail := range st.Details() {
		if info, ok := detail.(*errdetails.ErrorInfo); ok {
			require.Equal(t, errorDomain, info.GetDomain())
			require.Equal(t, reason, info.GetReason())
			return info
		}
	}
	require.Fail(t, "no ErrorInfo", "%v", st.Proto())
	return nil
}

// retryDelay is the RetryInfo's, or -1.
func retryDelay(err error) time.Duration {
	for _, detail := range status.Convert(err).Details() {
		if retry, ok := detail.(*errdetails.RetryInfo); ok {
			return retry.GetRetryDelay().AsDuration()
		}
	}
	return -1
}

// P-01: violations become field violations with the path within the request.
func TestInvalidNamesEveryField(t *testing.T) {
	t.Parallel()
	require.NoError(t, invalid(nil, "action"))
	violations := make([]action.Violation, 5)
	for i := range violations {
		violations[i] = action.Violation{Field: fmt.Sprintf("spec.f%d", i), Rule: action.RuleOutOfRange, Description: "must be small"}
	}
	violations[0] = action.Violation{Rule: action.RuleRequired, Description: "must be set"}
	err := invalid(violations, "action")
	info := requireReason(t, err, codes.InvalidArgument, action.RuleRequired)
	require.Equal(t, map[string]string{"field": "action", "violations": "5"}, info.GetMetadata())
	require.Equal(t, "action: must be set; action.spec.f1: must be small; action.spec.f2: must be small; and 2 more", err.Error())
	bad, ok := status.Convert(err).Details()[1].(*errdetails.BadRequest)
	require.True(t, ok)
	require.Len(t, bad.GetFieldViolations(), 5)
	require.Equal(t, "action.spec.f4", bad.GetFieldViolations()[4].GetField())
	require.Equal(t, "spec.f1", status.Convert(invalid(violations[1:2], "")).Details()[1].(*errdetails.BadRequest).GetFieldViolations()[0].GetField())
}

// AIP-193: the dynamic values are repeated where programs find them.
func TestErrorsRepeatTheirValues(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		err    error
		code   codes.Code
		reason string
		want   map[string]string
	}{
		{notFound("a"), codes.NotFound, "ACTION_NOT_FOUND", map[string]string{"id": "a"}},
		{alreadyExists("a"), codes.AlreadyExists, "ACTION_ALREADY_EXISTS", map[string]string{"id": "a"}},
		{etagMismatch("a"), codes.Aborted, "ETAG_MISMATCH", map[string]string{"id": "a"}},
		{failedPrecondition("NOT_PAUSED", "a", "RUNNING"), codes.FailedPrecondition, "NOT_PAUSED", map[string]string{"id": "a", "state": "RUNNING"}},
		{resourceExhausted(time.Minute, nil), codes.ResourceExhausted, "TOO_MANY_REQUESTS", nil},
	} {
		require.Equal(t, test.want, requireReason(t, test.err, test.code, test.reason).GetMetadata())
	}
	require.Equal(t, time.Minute, retryDelay(resourceExhausted(time.Minute, nil)))
}

// Whatever an id holds, the error keeps its details and stays small: a status that
// cannot be encoded would reach the caller as INTERNAL.
func TestErrorsOfStrangeIDsKeepTheirDetails(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"", "\xff\xfe", strings.Repeat("é", 100_000), "a\x00b"} {
		err := notFound(id)
		requireReason(t, err, codes.NotFound, reasonActionNotFound)
		require.Less(t, len(status.Convert(err).Proto().String()), 4096)
	}
}

// P-01: what Temporal answers reaches the caller as what it means for him.
func TestFromTemporal(t *testing.T) {
	t.Parallel()
	known := etagMismatch("a")
	for name, test := range map[string]struct {
		err    error
		code   codes.Code
		reason string
		retry  time.Duration
	}{
		"exhausted":          {&serviceerror.ResourceExhausted{Message: "rps"}, codes.ResourceExhausted, reasonTooManyRequests, time.Second},
		"unavailable":        {serviceerror.NewUnavailable("10.0.0.7 down"), codes.Unavailable, "TEMPORAL_UNAVAILABLE", time.Second},
		"bare unavailable":   {status.Error(codes.Unavailable, "10.0.0.7 down"), codes.Unavailable, "TEMPORAL_UNAVAILABLE", time.Second},
		"wrapped":            {fmt.Errorf("start: %w", serviceerror.NewUnavailable("x")), codes.Unavailable, "TEMPORAL_UNAVAILABLE", time.Second},
		"deadline":           {serviceerror.NewDeadlineExceeded("10.0.0.7"), codes.DeadlineExceeded, reasonDeadlineExceeded, -1},
		"own deadline":       {fmt.Errorf("call: %w", context.DeadlineExceeded), codes.DeadlineExceeded, reasonDeadlineExceeded, -1},
		"own cancel":         {context.Canceled, codes.Canceled, reasonCancelled, -1},
		"cancelled":          {serviceerror.NewCanceled("x"), codes.Canceled, reasonCancelled, -1},
		"no workflow":        {serviceerror.NewNotFound("x"), codes.NotFound, reasonActionNotFound, -1},
		"no namespace":       {serviceerror.NewNamespaceNotFound("prod"), codes.FailedPrecondition, "TEMPORAL_NAMESPACE_NOT_FOUND", -1},
		"started":            {serviceerror.NewWorkflowExecutionAlreadyStarted("x", "r", "w"), codes.AlreadyExists, reasonActionAlreadyExists, -1},
		"denied":             {serviceerror.NewPermissionDenied("10.0.0.7", "x"), codes.Internal, "TEMPORAL_ACCESS_DENIED", -1},
		"bare denied":        {status.Error(codes.Unauthenticated, "10.0.0.7"), codes.Internal, "TEMPORAL_ACCESS_DENIED", -1},
		"our bad request":    {serviceerror.NewInvalidArgument("10.0.0.7"), codes.Internal, "TEMPORAL_REFUSED", -1},
		"workflow not ready": {serviceerror.NewWorkflowNotReady("x"), codes.Unavailable, "TEMPORAL_NOT_READY", time.Second},
		"internal":           {serviceerror.NewInternal("10.0.0.7"), codes.Internal, "TEMPORAL_FAILED", -1},
		"unknown":            {errors.New("10.0.0.7"), codes.Internal, "TEMPORAL_FAILED", -1},
		"our own":            {fmt.Errorf("wrapped: %w", known), codes.Aborted, reasonEtagMismatch, -1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := fromTemporal(test.err, "a")
			requireReason(t, got, test.code, test.reason)
			require.Equal(t, test.retry, retryDelay(got))
			require.NotContains(t, status.Convert(got).Proto().String(), "10.0.0.7", "hosts are for the log")
		})
	}
	require.NoError(t, fromTemporal(nil, "a"))
	cause := serviceerror.NewUnavailable("x")
	require.ErrorIs(t, fromTemporal(cause, "a"), cause)
}

func TestCodeReason(t *testing.T) {
	t.Parallel()
	for code, want := range map[codes.Code]string{
		codes.NotFound: "NOT_FOUND", codes.Unimplemented: "UNIMPLEMENTED", codes.OutOfRange: "OUT_OF_RANGE", codes.DataLoss: "DATA_LOSS",
	} {
		require.Equal(t, want, codeReason(code))
	}
}
