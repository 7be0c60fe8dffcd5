package e2e

import (
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	collectorpb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// collector keeps what processes export by OTLP over HTTP, by the service's name.
type collector struct {
	*httptest.Server

	mu    sync.Mutex
	spans map[string][]*tracepb.Span
}

func collect(t *testing.T) *collector {
	t.Helper()
	c := &collector{spans: map[string][]*tracepb.Span{}}
	c.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var request collectorpb.ExportTraceServiceRequest
		if err != nil || proto.Unmarshal(body, &request) != nil {
			return
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		for _, of := range request.GetResourceSpans() {
			service := ""
			for _, a := range of.GetResource().GetAttributes() {
				if a.GetKey() == "service.name" {
					service = a.GetValue().GetStringValue()
				}
			}
			for _, scope := range of.GetScopeSpans() {
				c.spans[service] = append(c.spans[service], scope.GetSpans()...)
			}
		}
	}))
	t.Cleanup(c.Close)
	return c
}

// span waits for the first span of a service and a name.
func (c *collector) span(t *testing.T, service, name string) (found *tracepb.Span) {
	t.Helper()
	eventually(t, startWithin, service+" exports "+name, func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		for _, s := range c.spans[service] {
			if s.GetName() == name {
				found = s
				return true
			}
		}
		return false
	})
	return found
}

// Issue 4: one trace shows client, facade, workflow, attempt and receiver, of processes
// that know of each other by W3C headers only and of the collector by OTEL_* only. Where
// there is no terminal they log JSON, which names the trace.
func TestOneTraceOfProcesses(t *testing.T) {
	t.Parallel()
	c, inbox := collect(t), receive(t)
	const trace = "4bf92f3577b34da6a3ce929d0e0e4736"
	env := []string{
		"OTEL_EXPORTER_OTLP_ENDPOINT=" + c.URL, "OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf", "OTEL_BSP_SCHEDULE_DELAY=200",
	}
	i := installIdle(t)
	store := "sqlite:" + t.TempDir() + "/gnomon.db"
	common := []string{"--temporal-address", temporal.Address(), "--task-queue", i.queue, "--store", store, "--log-level", "debug"}
	facade := runWith(t, env, "starter", append(common, "--grpc-address", "127.0.0.1:0", "--http-address", "")...)
	var serves struct {
		GRPC string `json:"grpc"`
	}
	require.NoError(t, json.Unmarshal([]byte(facade.says(t, facade.err, "The facade serves.")), &serves))
	w := runWith(t, env, "worker", append(common, "--pollers", "4")...)
	w.says(t, w.err, "The worker polls.")

	cli := runWith(t, append(env, "TRACEPARENT=00-"+trace+"-00f067aa0ba902b7-01"), "gnomon",
		"action", "create", i.id("a"), "--in", "1s", "--url", inbox.URL("/ok"), "--address", serves.GRPC)
	require.Zero(t, cli.exit(t, startWithin), cli.err.Tail(20))
	arrival := inbox.nth(t, i.id("a"), 1, startWithin)

	parent := "00f067aa0ba902b7"
	for _, want := range [][2]string{
		{"gnomon", createCall},
		{"gnomon-starter", createCall},
		{"gnomon-starter", startCall},
		{"gnomon-worker", runMark},
		{"gnomon-worker", startMark},
		{"gnomon-worker", attempt},
		{"gnomon-worker", "POST"},
	} {
		span := c.span(t, want[0], want[1])
		require.Equal(t, trace, hex.EncodeToString(span.GetTraceId()), "%v", want)
		require.Equal(t, parent, hex.EncodeToString(span.GetParentSpanId()), "the parent of %v", want)
		parent = hex.EncodeToString(span.GetSpanId())
	}
	require.Equal(t, "00-"+trace+"-"+parent+"-01", arrival.Header.Get("Traceparent"))
	require.Regexp(t, `"msg":"call".*"action":"`+regexp.QuoteMeta(i.id("a"))+`".*"trace_id":"`+trace+`"`, facade.err.Text())
	w.stop(t, 30*time.Second)
	facade.stop(t, 30*time.Second)
}
