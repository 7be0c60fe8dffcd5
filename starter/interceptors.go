package starter

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// errStopping ends streams when the server stops.
var errStopping = errors.New("the server is stopping")

// calls is what surrounds every call: a deadline, recovery from panics, complete
// errors, and a line in the log.
type calls struct {
	logger   *slog.Logger
	timeout  time.Duration
	stopping context.Context // it ends streams, whose own contexts know nothing of the server
}

// unary surrounds a call with one answer.
func (c *calls) unary(ctx context.Context, req any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (reply any, err error) {
	start := time.Now()
	ctx = identified(ctx, req)
	defer func() {
		if cause := recover(); cause != nil {
			reply, err = nil, c.panicked(ctx, info.FullMethod, cause)
		}
		err = complete(err)
		c.log(ctx, info.FullMethod, start, err)
	}()
	if _, bounded := ctx.Deadline(); !bounded {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.timeout)
		defer cancel()
	}
	return next(ctx, req)
}

// stream surrounds a call with many answers. It has no deadline of its own, but
// ends when the server stops, so that a watcher does not hold up the stopping.
func (c *calls) stream(service any, ss grpc.ServerStream, info *grpc.StreamServerInfo, next grpc.StreamHandler) (err error) {
	start := time.Now()
	ctx, cancel := context.WithCancelCause(ss.Context())
	defer cancel(nil)
	defer context.AfterFunc(c.stopping, func() { cancel(errStopping) })()
	bound := &boundStream{ServerStream: ss, ctx: ctx}
	defer func() {
		if cause := recover(); cause != nil {
			err = c.panicked(ctx, info.FullMethod, cause)
		}
		if err != nil && errors.Is(context.Cause(ctx), errStopping) {
			err = unavailable(reasonStopping, "this server is stopping; watch again at another", errStopping)
		}
		err = complete(err)
		c.log(bound.ctx, info.FullMethod, start, err)
	}()
	return next(service, bound)
}

// panicked keeps the process alive and tells the caller nothing of the panic: its
// value may hold what was sent.
func (c *calls) panicked(ctx context.Context, method string, cause any) error {
	c.logger.LogAttrs(ctx, slog.LevelError, "a call panicked",
		slog.String("method", method), slog.String("type", fmt.Sprintf("%T", cause)), slog.String("stack", string(debug.Stack())))
	return internal(reasonPanic, "gnomon failed; this is a bug, and the log of the server tells where", nil)
}

// log writes method, code and duration, never what was said. Causes behind
// UNAVAILABLE and INTERNAL are what an operator needs to see.
func (c *calls) log(ctx context.Context, method string, start time.Time, err error) {
	level := slog.LevelDebug
	attrs := []slog.Attr{
		slog.String("method", method),
		slog.String("code", status.Code(err).String()),
		slog.Duration("duration", time.Since(start)),
	}
	if known, ok := errors.AsType[*refusal](err); ok && known.cause != nil {
		switch status.Code(err) { //nolint:exhaustive // the others are the caller's doing
		case codes.Unavailable, codes.Internal, codes.FailedPrecondition, codes.Unknown:
			level = slog.LevelWarn
			attrs = append(attrs, slog.String("cause", known.cause.Error()))
		}
	}
	c.logger.LogAttrs(ctx, level, "call", attrs...)
}

// complete holds the promise that every error has an ErrorInfo of gnomon: one
// without gets its code as the reason.
func complete(err error) error {
	if err == nil {
		return nil
	}
	if known, ok := errors.AsType[*refusal](err); ok {
		return known
	}
	if _, ok := status.FromError(err); !ok {
		if late := fromContext(err); late != nil {
			return late
		}
		return internal("INTERNAL", "gnomon failed; the log of the server tells why", err)
	}
	st := status.Convert(err)
	if slices.ContainsFunc(st.Details(), func(detail any) bool { _, ok := detail.(*errdetails.ErrorInfo); return ok }) {
		return err
	}
	return refuse(st.Code(), codeReason(st.Code()), st.Message(), nil).because(err)
}

// codeReason is the name of a code in UPPER_SNAKE_CASE.
func codeReason(code codes.Code) string {
	var name []rune
	for i, r := range code.String() {
		if i > 0 && 'A' <= r && r <= 'Z' && name[len(name)-1] >= 'a' {
			name = append(name, '_')
		}
		name = append(name, r)
	}
	return strings.ToUpper(string(name))
}

// boundStream is a stream with another context.
type boundStream struct {
	grpc.ServerStream

	ctx context.Context // grpc.ServerStream hands out its context
}

// Context is the context of the call.
func (s *boundStream) Context() context.Context { return s.ctx }

// RecvMsg receives the request and notes what it is about.
func (s *boundStream) RecvMsg(m any) error {
	err := s.ServerStream.RecvMsg(m)
	if err == nil {
		s.ctx = identified(s.ctx, m)
	}
	return err
}
