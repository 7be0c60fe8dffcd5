package tracing

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"
	"strings"

	"go.opentelemetry.io/otel/trace"
)

// ids generates the ids of traces and spans: those that the context wants, else random
// ones.
type ids struct{}

// wanted are the ids that the next span is to have, where they are not zero.
type wanted struct {
	trace trace.TraceID
	span  trace.SpanID
}

type wantedKey struct{}

// want has the next span that is begun with the context have these ids.
func want(ctx context.Context, w wanted) context.Context {
	return context.WithValue(ctx, wantedKey{}, w)
}

// NewIDs implements sdktrace.IDGenerator.
func (g ids) NewIDs(ctx context.Context) (trace.TraceID, trace.SpanID) {
	w, _ := ctx.Value(wantedKey{}).(wanted)
	for !w.trace.IsValid() {
		random(w.trace[:8])
		random(w.trace[8:])
	}
	return w.trace, g.NewSpanID(ctx, w.trace)
}

// NewSpanID implements sdktrace.IDGenerator.
func (ids) NewSpanID(ctx context.Context, _ trace.TraceID) trace.SpanID {
	w, _ := ctx.Value(wantedKey{}).(wanted)
	for !w.span.IsValid() {
		random(w.span[:])
	}
	return w.span
}

// random fills eight bytes, as the SDK's own generator does.
func random(b []byte) {
	binary.NativeEndian.PutUint64(b, rand.Uint64()) //nolint:gosec // an id is no secret
}

// digest is the same for the same parts, in every process.
func digest(parts ...string) [sha256.Size]byte {
	return sha256.Sum256([]byte(strings.Join(parts, "\x00")))
}

// spanID follows from its parts.
func spanID(parts ...string) (id trace.SpanID) {
	sum := digest(parts...)
	copy(id[:], sum[:])
	return id
}

// traceID follows from its parts.
func traceID(parts ...string) (id trace.TraceID) {
	sum := digest(parts...)
	copy(id[:], sum[:])
	return id
}
