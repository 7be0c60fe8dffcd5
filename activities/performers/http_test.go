package performers_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	gnomonv1 "gnomon/api/gnomon/v1"

	"gnomon/activities/performers"
)

func serve(t *testing.T, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s
}

func httpAction(spec *gnomonv1.HttpRequest) *gnomonv1.Action {
	return &gnomonv1.Action{Action: &gnomonv1.Action_HttpRequest{HttpRequest: spec}}
}

func performHTTP(ctx context.Context, t *testing.T, spec *gnomonv1.HttpRequest) (performers.Reply, error) {
	t.Helper()
	a := httpAction(spec)
	return performerOf(t, newSet(t, performers.Default()), a).Perform(ctx, request(a))
}

// HttpRequest: the headers of every attempt, to the byte, also where the spec tries
// to set them, and the spec's own beside them.
func TestHTTPSendsTheRequestOfTheSpec(t *testing.T) {
	t.Parallel()
	got := make(chan *http.Request, 1)
	body := make(chan string, 1)
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		got <- r
		body <- string(b)
		_, _ = io.WriteString(w, "thanks")
	})
	reply, err := performHTTP(t.Context(), t, &gnomonv1.HttpRequest{
		Method: "PUT",
		Url:    s.URL + "/orders/42?x=1",
		Headers: map[string]string{
			"content-type": "application/json", "X-Own": "yes", "Host": "orders.test",
			"gnomon-attempt": "77", "Idempotency-Key": "mine",
		},
		Body: []byte(`{"a":1}`),
	})
	require.NoError(t, err)
	require.Equal(t, "thanks", reply.Text)

	r := <-got
	require.Equal(t, "PUT", r.Method)
	require.Equal(t, "/orders/42?x=1", r.URL.RequestURI())
	require.Equal(t, "orders.test", r.Host)
	require.JSONEq(t, `{"a":1}`, <-body)
	require.Equal(t, http.Header{
		"Idempotency-Key":     {"order:42/5f0c2d1e-guid/2026-11-21T10:00:00.00000012Z"},
		"Gnomon-Action-Id":    {"order:42"},
		"Gnomon-Action-Guid":  {"5f0c2d1e-guid"},
		"Gnomon-Scheduled-At": {"2026-11-21T10:00:00.00000012Z"},
		"Gnomon-Attempt":      {"2"},
		"User-Agent":          {"gnomon"},
		"Content-Type":        {"application/json"},
		"X-Own":               {"yes"},
		"Accept-Encoding":     {"gzip"},
		"Content-Length":      {"7"},
	}, r.Header)
}

// HttpRequest.method: POST by default, and those the contract lists.
func TestHTTPMethods(t *testing.T) {
	t.Parallel()
	method := make(chan string, 1)
	s := serve(t, func(_ http.ResponseWriter, r *http.Request) { method <- r.Method })
	for asked, sent := range map[string]string{
		"": "POST", "GET": "GET", "HEAD": "HEAD", "POST": "POST", "PUT": "PUT", "PATCH": "PATCH", "DELETE": "DELETE",
	} {
		_, err := performHTTP(t.Context(), t, &gnomonv1.HttpRequest{Method: asked, Url: s.URL})
		require.NoError(t, err)
		require.Equal(t, sent, <-method)
	}
}

// HttpRequest.headers: the User-Agent is not among those that the spec cannot set.
func TestHTTPUserAgentOfTheSpecWins(t *testing.T) {
	t.Parallel()
	s := serve(t, func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.UserAgent()) })
	reply, err := performHTTP(t.Context(), t, &gnomonv1.HttpRequest{Url: s.URL, Headers: map[string]string{"user-agent": "shop"}})
	require.NoError(t, err)
	require.Equal(t, "shop", reply.Text)
}

// HttpRequest.accepted_status and give_up_on_client_error.
func TestHTTPJudgesByTheStatus(t *testing.T) {
	t.Parallel()
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		status, _ := strconv.Atoi(r.URL.Path[1:])
		w.WriteHeader(status)
		_, _ = io.WriteString(w, "the reply")
	})
	ranges := func(pairs ...uint32) (list []*gnomonv1.HttpRequest_StatusRange) {
		for i := 0; i < len(pairs); i += 2 {
			list = append(list, &gnomonv1.HttpRequest_StatusRange{First: pairs[i], Last: pairs[i+1]})
		}
		return list
	}
	const ok, failed, final = "ok", "failed", "final"
	for _, c := range []struct {
		status   int
		accepted []*gnomonv1.HttpRequest_StatusRange
		giveUp   bool
		want     string
	}{
		{status: 200, want: ok},
		{status: 201, want: ok},
		{status: 299, want: ok},
		{status: 300, want: failed},
		{status: 304, want: failed},
		{status: 400, want: failed},
		{status: 404, want: failed},
		{status: 500, want: failed},
		{status: 503, want: failed},
		{status: 599, want: failed},
		{status: 200, accepted: ranges(201, 0), want: failed},
		{status: 201, accepted: ranges(201, 0), want: ok},
		{status: 202, accepted: ranges(201, 0), want: failed},
		{status: 404, accepted: ranges(200, 204, 404, 410), want: ok},
		{status: 410, accepted: ranges(200, 204, 404, 410), want: ok},
		{status: 411, accepted: ranges(200, 204, 404, 410), want: failed},
		{status: 205, accepted: ranges(200, 204, 404, 410), want: failed},
		{status: 404, accepted: ranges(404, 0), giveUp: true, want: ok},
		{status: 200, accepted: ranges(404, 0), giveUp: true, want: failed},
		{status: 399, giveUp: true, want: failed},
		{status: 400, giveUp: true, want: final},
		{status: 407, giveUp: true, want: final},
		{status: 408, giveUp: true, want: failed},
		{status: 409, giveUp: true, want: final},
		{status: 428, giveUp: true, want: final},
		{status: 429, giveUp: true, want: failed},
		{status: 499, giveUp: true, want: final},
		{status: 500, giveUp: true, want: failed},
	} {
		t.Run(fmt.Sprint(c.status, c.accepted, c.giveUp), func(t *testing.T) {
			t.Parallel()
			reply, err := performHTTP(t.Context(), t, &gnomonv1.HttpRequest{
				Url: fmt.Sprint(s.URL, "/", c.status), AcceptedStatus: c.accepted, GiveUpOnClientError: c.giveUp,
			})
			require.Equal(t, c.want == final, performers.IsPermanent(err))
			if c.want == ok {
				require.NoError(t, err)
			} else {
				text := strings.TrimSpace(fmt.Sprintf("POST %s answered with status %d %s", s.URL, c.status, http.StatusText(c.status)))
				require.EqualError(t, err, text)
			}
			if c.status != http.StatusNotModified {
				require.Equal(t, "the reply", reply.Text, "whatever the status")
			}
		})
	}
}

// A thousand may be due in one second: connections are used again, by all
// performers of the process, and none is left open for each request.
func TestHTTPUsesConnectionsAgain(t *testing.T) {
	t.Parallel()
	const burst = 50
	var conns atomic.Int32
	var wait sync.WaitGroup
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		// Each burst is in flight as a whole, so it needs a connection for each.
		wait.Done()
		wait.Wait()
		_, _ = io.WriteString(w, strings.Repeat("x", 32<<10))
	}))
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			conns.Add(1)
		}
	}
	s.Start()
	t.Cleanup(s.Close)

	a := httpAction(&gnomonv1.HttpRequest{Url: s.URL})
	p := performerOf(t, newSet(t, performers.Default()), a)
	for range 4 {
		wait.Add(burst)
		var all sync.WaitGroup
		for range burst {
			all.Go(func() {
				_, err := p.Perform(t.Context(), request(a))
				if err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
	}
	require.LessOrEqual(t, conns.Load(), int32(burst))
}
