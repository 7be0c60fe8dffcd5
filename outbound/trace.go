package outbound

import (
	"net/http"

	"go.opentelemetry.io/otel/codes"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"gnomon/tracing"
)

// traced sends a request as a span of its caller's and gives it W3C's traceparent, unless
// it has one of its own. The span ends with the reply's header. It tells no path
// and no query, as those are secrets at times; redirects are within it, and another host
// is not told of it, as of no other header of gnomon's.
func traced(req *http.Request, send func(*http.Request) (*http.Response, error)) (*http.Response, error) {
	if !trace.SpanContextFromContext(req.Context()).IsValid() {
		return send(req)
	}
	ctx, span := tracing.Begin(req.Context(), req.Method, trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(
		semconv.HTTPRequestMethodKey.String(req.Method), semconv.URLScheme(req.URL.Scheme), semconv.ServerAddress(req.URL.Host),
	))
	tracing.InjectHTTP(ctx, req.Header)
	resp, err := send(req)
	if err == nil {
		span.SetAttributes(semconv.HTTPResponseStatusCode(resp.StatusCode))
		if resp.StatusCode >= http.StatusBadRequest {
			span.SetStatus(codes.Error, "")
		}
	}
	tracing.End(span, err)
	return resp, err
}
