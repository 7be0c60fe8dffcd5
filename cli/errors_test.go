package cli

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

func refusing(t *testing.T, st *status.Status) *fakeServer {
	t.Helper()
	fake := startFake(t)
	fake.refuse = func(proto.Message) error { return st.Err() }
	return fake
}

func twoViolations(t *testing.T) *status.Status {
	t.Helper()
	st, err := status.New(codes.InvalidArgument, "two things are wrong").WithDetails(
		&errdetails.ErrorInfo{Reason: "OUT_OF_RANGE", Domain: "gnomon"},
		&errdetails.BadRequest{FieldViolations: []*errdetails.BadRequest_FieldViolation{
			{Field: "action.spec.start_policy.start_at", Description: "must be at most 10 minutes in the past"},
			{Field: "action.spec.action", Description: "exactly one kind must be set"},
		}},
	)
	require.NoError(t, err)
	return st
}

// P-01: the field paths reach the person.
func TestViolationsAreOneLineEach(t *testing.T) {
	t.Parallel()
	got := refusing(t, twoViolations(t)).run(t, "action", "create", "a", "--url", "http://h/")
	require.Equal(t, ExitFailed, got.code)
	require.Empty(t, got.stdout)
	require.Equal(t, "error: INVALID_ARGUMENT: action.spec.start_policy.start_at: must be at most 10 minutes in the past\n"+
		"error: INVALID_ARGUMENT: action.spec.action: exactly one kind must be set\n", got.stderr)
}

func TestErrorsAsJSON(t *testing.T) {
	t.Parallel()
	got := refusing(t, twoViolations(t)).run(t, "action", "create", "a", "--url", "http://h/", "-o", "json")
	require.Equal(t, ExitFailed, got.code)
	require.JSONEq(t, `{"code": 3, "message": "two things are wrong", "details": [
		{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "OUT_OF_RANGE", "domain": "gnomon"},
		{"@type": "type.googleapis.com/google.rpc.BadRequest", "fieldViolations": [
			{"field": "action.spec.start_policy.start_at", "description": "must be at most 10 minutes in the past"},
			{"field": "action.spec.action", "description": "exactly one kind must be set"}]}]}`, got.stderr)

	// What goes wrong on this side is a status too.
	got = invocation{}.run(t.Context(), "action", "get", "-o", "json")
	require.Equal(t, ExitUsage, got.code)
	require.JSONEq(t, `{"code": 3, "message": "gnomon action get takes exactly one action id, got 0"}`, got.stderr)
}

func TestErrorsShowReasonAndHint(t *testing.T) {
	t.Parallel()
	st, err := status.New(codes.Aborted, "action \"a\" has changed").WithDetails(
		&errdetails.ErrorInfo{Reason: "ETAG_MISMATCH", Domain: "gnomon"})
	require.NoError(t, err)
	got := refusing(t, st).run(t, "action", "pause", "a")
	require.Equal(t, ExitFailed, got.code)
	require.Equal(t, "error: ABORTED: action \"a\" has changed (ETAG_MISMATCH)\n"+
		"hint: the action has changed meanwhile; look at it with 'gnomon action get' and try again\n", got.stderr)
}

func TestUnavailableSaysWhereAndHowToStart(t *testing.T) {
	t.Parallel()
	// Port 1 is closed on every machine that runs tests.
	got := invocation{address: "127.0.0.1:1"}.run(t.Context(), "action", "list")
	require.Equal(t, ExitFailed, got.code)
	require.Contains(t, got.stderr, "error: UNAVAILABLE: ")
	require.Contains(t, got.stderr, "hint: is gnomon serving at 127.0.0.1:1? Start it with 'go run ./cmd/gnomon-dev'")
}

// What gnomon says of Temporal or its store is no reason to start another gnomon.
func TestUnavailableBehindGnomonHasNoHint(t *testing.T) {
	t.Parallel()
	st, err := status.New(codes.Unavailable, "Temporal does not answer; try again later").WithDetails(
		&errdetails.ErrorInfo{Reason: "TEMPORAL_UNAVAILABLE", Domain: "gnomon"})
	require.NoError(t, err)
	got := refusing(t, st).run(t, "action", "pause", "a")
	require.Equal(t, "error: UNAVAILABLE: Temporal does not answer; try again later (TEMPORAL_UNAVAILABLE)\n", got.stderr)
}

func TestAddressFromEnvironment(t *testing.T) {
	t.Parallel()
	fake := startFake(t)
	fake.put(waiting(t, "hello"))
	in := invocation{getenv: map[string]string{"GNOMON_ADDRESS": fake.address}}
	require.Contains(t, in.run(t.Context(), "action", "list").ok(t).stdout, "hello")

	got := invocation{getenv: map[string]string{"GNOMON_ADDRESS": "127.0.0.1:1"}}.
		run(t.Context(), "action", "list", "--address", fake.address).ok(t)
	require.Contains(t, got.stdout, "hello")
}

func TestTimeout(t *testing.T) {
	t.Parallel()
	fake := startFake(t)
	release := make(chan struct{})
	t.Cleanup(func() { close(release) })
	fake.refuse = func(proto.Message) error { <-release; return nil }
	got := fake.run(t, "action", "get", "a", "--timeout", "50ms")
	require.Equal(t, ExitFailed, got.code)
	require.Contains(t, got.stderr, "error: DEADLINE_EXCEEDED: ")
	require.Contains(t, got.stderr, "--timeout gives it more")
}

func TestTLSIsRefusedByAPlainServer(t *testing.T) {
	t.Parallel()
	got := startFake(t).run(t, "action", "list", "--tls")
	require.Equal(t, ExitFailed, got.code)
	require.Contains(t, got.stderr, "UNAVAILABLE")
	require.Contains(t, strings.ToLower(got.stderr), "tls")
}

func TestInterruptedExitsWith130(t *testing.T) {
	t.Parallel()
	fake := startFake(t)
	ctx, cancel := context.WithCancel(t.Context())
	release := make(chan struct{})
	t.Cleanup(func() { close(release) })
	fake.refuse = func(proto.Message) error { cancel(); <-release; return nil }
	got := invocation{address: fake.address}.run(ctx, "action", "get", "a")
	require.Equal(t, ExitInterrupted, got.code)
	require.Empty(t, got.stderr)
}

// A reply is the other side's text and must not reprogram a terminal.
func TestControlCharactersAreShownNotSent(t *testing.T) {
	t.Parallel()
	fake := refusing(t, status.New(codes.Internal, "bad \x1b[2J\nthing"))
	got := fake.run(t, "action", "get", "a")
	require.Equal(t, "error: INTERNAL: bad \\x1b[2J\\nthing\n", got.stderr)

	got = fake.run(t, "action", "get", "a", "-o", "json")
	require.True(t, json.Valid([]byte(got.stderr)))
}
