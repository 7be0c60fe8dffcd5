package e2e

import (
	"context"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/logging"
	"gnomon/starter"
	"gnomon/tracing"
)

// traced is an installation whose client, facade and worker trace, and log as JSON, as
// three processes would.
type traced struct {
	*served

	spans *tracetest.InMemoryExporter
}

func (s *traced) tracing(t *testing.T, service string) *tracing.Tracing {
	t.Helper()
	_ = service
	tr := tracing.New(sdktrace.WithSyncer(s.spans))
	t.Cleanup(func() { require.NoError(t, tr.Shutdown(context.WithoutCancel(t.Context()))) })
	return tr
}

// installTraced brings it up without a worker.
func installTraced(t *testing.T) *traced {
	t.Helper()
	s := &traced{served: &served{installation: installIdle(t), logs: &record{}}, spans: tracetest.NewInMemoryExporter()}
	s.log = slog.New(logging.NewHandler(slog.NewJSONHandler(s.logs, &slog.HandlerOptions{Level: slog.LevelDebug})))
	dial := func(service string) client.Client {
		c, err := client.Dial(s.tracing(t, service).Client(client.Options{
			HostPort: temporal.Address(), Logger: sdklog.NewStructuredLogger(s.log),
		}))
		require.NoError(t, err)
		t.Cleanup(c.Close)
		return c
	}
	var err error
	s.facade, err = starter.NewActions(starter.Config{
		Client: dial("facade"), TaskQueue: s.queue, Store: s.store, Logger: s.log, AllowMockActions: true,
	})
	require.NoError(t, err)
	server, err := starter.NewServer(starter.ServerConfig{
		GRPCAddress: "127.0.0.1:0", HTTPAddress: "127.0.0.1:0", Logger: s.log, Tracing: s.tracing(t, "facade"),
	}, starter.Services{Actions: s.facade}, s.facade.Ready)
	require.NoError(t, err)
	require.NoError(t, server.Start())
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		require.NoError(t, server.Stop(ctx))
	})
	conn, err := grpc.NewClient(server.GRPCAddr(), append(s.tracing(t, "client").DialOptions(),
		grpc.WithTransportCredentials(insecure.NewCredentials()))...)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, conn.Close()) })
	s.calls, s.base = gnomonv1.NewActionServiceClient(conn), "http://"+server.HTTPAddr()
	s.client = dial("worker") // the workers'
	return s
}

// named are the spans of a name so far, those that began first first.
func (s *traced) named(name string) tracetest.SpanStubs {
	var found tracetest.SpanStubs
	for _, span := range s.spans.GetSpans() {
		if span.Name == name {
			found = append(found, span)
		}
	}
	slices.SortFunc(found, func(a, b tracetest.SpanStub) int { return a.StartTime.Compare(b.StartTime) })
	return found
}

// span waits for the spans of a name, as spans are exported when they end.
func (s *traced) await(t *testing.T, name string, count int) tracetest.SpanStubs {
	t.Helper()
	eventually(t, 30*time.Second, name, func() bool { return len(s.named(name)) >= count })
	found := s.named(name)
	require.Len(t, found, count, name)
	return found
}

// child holds that a span is in the trace of another and its child.
func child(t *testing.T, parent, of tracetest.SpanStub) {
	t.Helper()
	require.Equal(t, parent.SpanContext.TraceID(), of.SpanContext.TraceID(), "%s and %s", parent.Name, of.Name)
	require.Equal(t, parent.SpanContext.SpanID(), of.Parent.SpanID(), "the parent of %s is not %s", of.Name, parent.Name)
}

// value is an attribute of a span as text.
func value(s tracetest.SpanStub, key attribute.Key) string {
	for _, a := range s.Attributes {
		if a.Key == key {
			return a.Value.String()
		}
	}
	return ""
}

// parentage is what a traceparent header says.
func parentage(t *testing.T, traceparent string) trace.SpanContext {
	t.Helper()
	require.Regexp(t, "^00-[0-9a-f]{32}-[0-9a-f]{16}-01$", traceparent)
	id, err := trace.TraceIDFromHex(traceparent[3:35])
	require.NoError(t, err)
	span, err := trace.SpanIDFromHex(traceparent[36:52])
	require.NoError(t, err)
	return trace.NewSpanContext(trace.SpanContextConfig{TraceID: id, SpanID: span, TraceFlags: trace.FlagsSampled})
}
