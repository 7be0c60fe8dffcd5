package tracing

import (
	"context"
	"net/http"
	"strings"

	"go.opentelemetry.io/contrib/instrumentation/google.golang.org/grpc/otelgrpc"
	metricnoop "go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/stats"
)

// ServerOptions have a gRPC server go on with its callers' traces, or begin some.
// Health and reflection are not traced.
func (t *Tracing) ServerOptions() []grpc.ServerOption {
	if t == nil {
		return nil
	}
	own := otelgrpc.WithFilter(func(i *stats.RPCTagInfo) bool { return strings.HasPrefix(i.FullMethodName, "/gnomon.") })
	return []grpc.ServerOption{grpc.StatsHandler(otelgrpc.NewServerHandler(append(t.rpc(), own)...))}
}

// DialOptions have each call of a gRPC client be a span and carry it.
func (t *Tracing) DialOptions() []grpc.DialOption {
	if t == nil {
		return nil
	}
	return []grpc.DialOption{grpc.WithStatsHandler(otelgrpc.NewClientHandler(t.rpc()...))}
}

func (t *Tracing) rpc() []otelgrpc.Option {
	return []otelgrpc.Option{
		otelgrpc.WithTracerProvider(t.provider), otelgrpc.WithPropagators(propagator),
		otelgrpc.WithMeterProvider(metricnoop.NewMeterProvider()),
	}
}

// Metadata passes the trace of an HTTP request on as gRPC metadata. What is no trace's
// context is not passed on.
func (t *Tracing) Metadata(_ context.Context, r *http.Request) metadata.MD {
	if t == nil {
		return nil
	}
	carrier := propagation.MapCarrier{}
	propagator.Inject(propagator.Extract(context.Background(), propagation.HeaderCarrier(r.Header)), carrier)
	return metadata.New(carrier)
}

// InjectRPC puts the span of ctx into the metadata of the gRPC calls made with it.
func InjectRPC(ctx context.Context) context.Context {
	carrier := propagation.MapCarrier{}
	propagator.Inject(ctx, carrier)
	var pairs []string
	for key, value := range carrier {
		pairs = append(pairs, key, value)
	}
	return metadata.AppendToOutgoingContext(ctx, pairs...)
}

// ExtractRPC goes on with the trace that [InjectRPC] put into the metadata of a call
// which is served with ctx. Spans that [Begin] begins within are this process's.
func (t *Tracing) ExtractRPC(ctx context.Context) context.Context {
	in, ok := metadata.FromIncomingContext(ctx)
	if !ok || t == nil {
		return ctx
	}
	carrier := propagation.MapCarrier{}
	for key, values := range in {
		carrier[key] = strings.Join(values, ",")
	}
	ctx = propagator.Extract(ctx, carrier)
	if span := trace.SpanFromContext(ctx); span.SpanContext().IsValid() {
		return trace.ContextWithSpan(ctx, elsewhere{span, t.provider})
	}
	return ctx
}

// elsewhere is the span of another process, of which this one's spans are children.
type elsewhere struct {
	trace.Span

	provider trace.TracerProvider
}

// TracerProvider is where this process's spans go.
func (e elsewhere) TracerProvider() trace.TracerProvider { return e.provider }
