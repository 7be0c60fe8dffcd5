package outbound

import (
	"fmt"
	"net/http"

	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"
)

// traced sends a request as a span within that of its context, if there is one, and gives
// it W3C's traceparent, unless it has one of its own. The span ends with the reply's
// header and tells no path, query or error text, as those are secrets at times. Redirects
// are within it; another host is not told of it, as of no other header of gnomon's.
func traced(req *http.Request, send func(*http.Request) (*http.Response, error)) (*http.Response, error) {
	outer := trace.SpanFromContext(req.Context())
	if !outer.SpanContext().IsValid() {
		return send(req)
	}
	ctx, span := outer.TracerProvider().Tracer("gnomon/outbound").Start(req.Context(), req.Method,
		trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(
			semconv.HTTPRequestMethodKey.String(req.Method), semconv.URLScheme(req.URL.Scheme), semconv.ServerAddress(req.URL.Host),
		))
	defer span.End()
	if req.Header.Get("Traceparent") == "" {
		propagation.TraceContext{}.Inject(ctx, propagation.HeaderCarrier(req.Header))
	}
	resp, err := send(req)
	if err != nil {
		span.SetAttributes(semconv.ErrorTypeKey.String(fmt.Sprintf("%T", err)))
		span.SetStatus(codes.Error, "")
		return nil, err
	}
	span.SetAttributes(semconv.HTTPResponseStatusCode(resp.StatusCode))
	if resp.StatusCode >= http.StatusBadRequest {
		span.SetStatus(codes.Error, "")
	}
	return resp, nil
}
