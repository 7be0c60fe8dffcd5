package stages

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime/debug"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/outbound"
)

// maxMessage bounds what is kept of a stage's words in an error.
const maxMessage = 1 << 10

// Error is a call of a stage that failed. Its text names the stage, the method and the
// code. The message is the stage's own and may hold anything: it is for those who may see
// the entity, and not for logs.
type Error struct {
	Stage, Method string
	Code          codes.Code
	Message       string

	cause error
}

// Error implements error.
func (e *Error) Error() string {
	return fmt.Sprintf("stage %s: %s: %s: %s", e.Stage, e.Method, e.Code, e.Message)
}

// Unwrap gives the error of the caller's context where that has ended the call.
func (e *Error) Unwrap() error { return e.cause }

// GRPCStatus has status.Code give the code.
func (e *Error) GRPCStatus() *status.Status { return status.New(e.Code, e.Message) }

// Declare makes a stage ready to be called: with the time limits of d, whose zero ones
// take their defaults; a panic is an [Error], as is an answer that the contract does not
// allow. A stage that is Go code gets a copy of what it is asked about, since others are
// asked at the same time.
func Declare(d Declaration, s Stage, log *slog.Logger) *Declared {
	d = d.WithDefaults()
	return &Declared{Declaration: d, Stage: &guarded{of: d, stage: s, log: log}}
}

// guarded is a stage that keeps the contract.
type guarded struct {
	of    Declaration
	stage Stage
	log   *slog.Logger
}

var (
	_ Saver    = (*guarded)(nil)
	_ Absentee = (*guarded)(nil)
)

// ShouldProcess implements Stage.
func (g *guarded) ShouldProcess(ctx context.Context, r *gnomonv1.ShouldProcessRequest) (*gnomonv1.ShouldProcessResponse, error) {
	return guard(ctx, g, "ShouldProcess", g.of.ShouldProcessTimeout, r, g.stage.ShouldProcess, checkAnswer)
}

// Process implements Stage.
func (g *guarded) Process(ctx context.Context, r *gnomonv1.ProcessRequest) (*gnomonv1.ProcessResponse, error) {
	return guard(ctx, g, "Process", g.of.ProcessTimeout, r, g.stage.Process, checkResult)
}

// OnSaved implements Saver, whether or not the stage does.
func (g *guarded) OnSaved(ctx context.Context, r *gnomonv1.OnSavedRequest) (*gnomonv1.OnSavedResponse, error) {
	saver, ok := g.stage.(Saver)
	if !ok {
		return nil, &Error{Stage: g.of.Name, Method: "OnSaved", Code: codes.Unimplemented, Message: "the stage has no OnSaved"}
	}
	return guard(ctx, g, "OnSaved", g.of.OnSavedTimeout, r, saver.OnSaved, func(*gnomonv1.OnSavedResponse) string { return "" })
}

// Absent implements Absentee, whether or not the stage does.
func (g *guarded) Absent() error {
	a, ok := g.stage.(Absentee)
	if !ok {
		return nil
	}
	err := a.Absent()
	if err == nil {
		return nil
	}
	return g.failure("Process", err)
}

// Close gives up what the stage keeps.
func (g *guarded) Close() error {
	if c, ok := g.stage.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// guard calls a method within its time limit. check says what is wrong with an answer.
func guard[Q proto.Message, A comparable](
	ctx context.Context, g *guarded, method string, limit time.Duration, r Q, f func(context.Context, Q) (A, error), check func(A) string,
) (answer A, err error) {
	var none A
	call, cancel := outbound.Limit(ctx, limit)
	defer cancel()
	defer func() {
		if cause := recover(); cause != nil {
			// What it panicked with may hold the entity; who sees that sees the error.
			g.log.ErrorContext(ctx, "A stage panicked.", "stage", g.of.Name, "method", method, "type", fmt.Sprintf("%T", cause), "stack", string(debug.Stack()))
			answer, err = none, &Error{Stage: g.of.Name, Method: method, Code: codes.Internal, Message: outbound.Shorten(fmt.Sprintf("panic: %v", cause), maxMessage)}
		}
	}()
	if g.of.Address == "" {
		r = proto.CloneOf(r)
	}
	answer, err = f(call.Context(), r)
	if err != nil {
		return none, g.failed(call, method, err)
	}
	if answer == none {
		return none, &Error{Stage: g.of.Name, Method: method, Code: codes.Internal, Message: "the stage answered nothing"}
	}
	if bad := check(answer); bad != "" {
		return none, &Error{Stage: g.of.Name, Method: method, Code: codes.InvalidArgument, Message: bad}
	}
	return answer, nil
}

// failure is an error of the stage's.
func (g *guarded) failure(method string, err error) *Error {
	failure := &Error{Stage: g.of.Name, Method: method, Code: status.Code(err), Message: outbound.Shorten(err.Error(), maxMessage)}
	if s, ok := status.FromError(err); ok {
		failure.Message = outbound.Shorten(s.Message(), maxMessage)
	}
	return failure
}

// failed is the error of a call, by whose end it came about.
func (g *guarded) failed(call outbound.Limited, method string, err error) error {
	failure := g.failure(method, err)
	ended := call.Ended("the call")
	if ended == nil && (failure.Code == codes.DeadlineExceeded || errors.Is(err, context.DeadlineExceeded)) {
		// The server learns the deadline and may cut the call a moment before our own
		// timer does.
		ended = call.Expired("the call")
	}
	if ended != nil {
		failure.Code, failure.Message = codes.DeadlineExceeded, ended.Error()
		if failure.cause = errors.Unwrap(ended); errors.Is(ended, context.Canceled) {
			failure.Code = codes.Canceled
		}
	}
	return failure
}

// checkAnswer says what the contract of ShouldProcess does not allow.
func checkAnswer(r *gnomonv1.ShouldProcessResponse) string {
	if r.GetAnswer() == nil {
		return "the answer has neither should_process nor timer"
	}
	if _, ok := r.GetAnswer().(*gnomonv1.ShouldProcessResponse_Timer); ok {
		return checkTimer(r.GetTimer())
	}
	return ""
}

// checkResult says what the contract of Process does not allow.
func checkResult(r *gnomonv1.ProcessResponse) string {
	if r.GetTimer() == nil {
		return ""
	}
	if r.GetKeepTimer() {
		return "timer and keep_timer must not both be set"
	}
	return checkTimer(r.GetTimer())
}

func checkTimer(t *timestamppb.Timestamp) string {
	if !t.IsValid() {
		return "timer is not a moment of the years 1 to 9999"
	}
	return ""
}
