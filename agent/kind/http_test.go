package kind

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/durationpb"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/outbound"
)

// request makes a request to a server that answers so.
func request(ctx context.Context, t *testing.T, answer http.HandlerFunc, change func(*gnomonv1.HttpRequest)) Outcome {
	t.Helper()
	server := httptest.NewServer(answer)
	t.Cleanup(server.Close)
	x := &gnomonv1.HttpRequest{Url: server.URL + "/path?secret=1"}
	if change != nil {
		change(x)
	}
	return NewHTTP(outbound.DefaultHTTP()).Run(ctx, &gnomonv1.NodeAction{
		Id: "a", Cluster: "c", Action: &gnomonv1.NodeAction_HttpRequest{HttpRequest: x},
	}, nil)
}

func answers(code int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(code)
		_, _ = io.WriteString(w, body)
	}
}

// Issue 6: the kind http_request sends what it was told, with a key by which the other
// side knows it again.
func TestRequestIsMade(t *testing.T) {
	t.Parallel()
	var got *http.Request
	var body []byte
	done := request(t.Context(), t, func(w http.ResponseWriter, r *http.Request) {
		got = r.Clone(context.Background())
		body, _ = io.ReadAll(r.Body)
		_, _ = io.WriteString(w, "\xffhello")
	}, func(x *gnomonv1.HttpRequest) {
		x.Method, x.Headers, x.Body = http.MethodPut, map[string]string{"X-Say": "hi"}, []byte("work")
	})
	require.Equal(t, gnomonv1.NodeAction_DONE, done.State, done.Reason)
	require.EqualValues(t, 200, done.Result.GetCode())
	require.Equal(t, "\uFFFDhello", done.Result.GetOutput(), "as text, whatever was sent")
	require.Equal(t, http.MethodPut, got.Method)
	require.Equal(t, "/path?secret=1", got.URL.String())
	require.Equal(t, "hi", got.Header.Get("X-Say"))
	require.Equal(t, "c/a", got.Header.Get("Idempotency-Key"))
	require.Equal(t, "work", string(body))
}

func TestRequestEnds(t *testing.T) {
	t.Parallel()
	accept := func(first, last uint32) func(*gnomonv1.HttpRequest) {
		return func(x *gnomonv1.HttpRequest) {
			x.AcceptedStatus = []*gnomonv1.HttpRequest_StatusRange{{First: first, Last: last}}
		}
	}
	redirects := http.RedirectHandler("/elsewhere", http.StatusFound).ServeHTTP
	const failed, done = gnomonv1.NodeAction_FAILED, gnomonv1.NodeAction_DONE
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		change func(*gnomonv1.HttpRequest)
		state  gnomonv1.NodeAction_State
		code   int32
	}{
		"no content":           {answers(204, ""), nil, done, 204},
		"an error":             {answers(500, "no"), nil, failed, 500},
		"accepted":             {answers(404, "none"), accept(404, 0), done, 404},
		"in the range":         {answers(409, ""), accept(400, 499), done, 409},
		"not accepted":         {answers(200, ""), accept(404, 0), failed, 200},
		"a redirect to itself": {redirects, nil, failed, 0},
		"an accepted redirect": {redirects, accept(302, 302), done, 302},
		"no URL":               {answers(200, ""), func(x *gnomonv1.HttpRequest) { x.Url = "ftp://127.0.0.1/" }, failed, 0},
		"nobody there":         {answers(200, ""), func(x *gnomonv1.HttpRequest) { x.Url = "http://127.0.0.1:1/?secret=1" }, failed, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var asked atomic.Int32
			got := request(t.Context(), t, func(w http.ResponseWriter, r *http.Request) {
				asked.Add(1)
				c.answer(w, r)
			}, c.change)
			require.Equal(t, c.state, got.State, got.Reason)
			require.Equal(t, c.code, got.Result.GetCode())
			require.Equal(t, c.state == failed, got.Reason != "")
			require.NotContains(t, got.Reason, "secret")
			if c.code != 0 {
				require.EqualValues(t, 1, asked.Load(), "made once, whatever the answer")
			}
		})
	}
}

// The output is kept to its limit, as a program's is.
func TestReplyIsLimited(t *testing.T) {
	t.Parallel()
	got := request(t.Context(), t, answers(200, strings.Repeat("x", 3*defaultOutputLimit)), nil)
	require.Equal(t, gnomonv1.NodeAction_DONE, got.State, got.Reason)
	require.Len(t, got.Result.GetOutput(), defaultOutputLimit)
}

// answered tells when the beginning of an answer has come.
type answered func()

func (f answered) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := http.DefaultTransport.RoundTrip(r)
	f()
	return resp, err
}

// A time limit fails a request and a cancellation cancels it, whether or not the answer
// has begun.
func TestRequestIsStopped(t *testing.T) {
	t.Parallel()
	for name, begins := range map[string]bool{"before the answer": false, "in the answer": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			came := make(chan struct{}, 2)
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if begins {
					_, _ = io.WriteString(w, "begun")
					_ = http.NewResponseController(w).Flush()
				} else {
					came <- struct{}{}
				}
				<-r.Context().Done()
			}))
			defer server.Close()
			config := outbound.DefaultHTTP()
			config.Transport = answered(func() {
				if begins {
					came <- struct{}{}
				}
			})
			run := func(ctx context.Context, limit time.Duration) Outcome {
				return NewHTTP(config).Run(ctx, &gnomonv1.NodeAction{Action: &gnomonv1.NodeAction_HttpRequest{
					HttpRequest: &gnomonv1.HttpRequest{Url: server.URL, Timeout: durationpb.New(limit)},
				}}, nil)
			}
			late := run(t.Context(), 100*time.Millisecond)
			require.Equal(t, gnomonv1.NodeAction_FAILED, late.State)
			require.Contains(t, late.Reason, "100ms")
			<-came

			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			go func() {
				<-came
				cancel(errors.New("enough"))
			}()
			stopped := run(ctx, time.Hour)
			require.Equal(t, gnomonv1.NodeAction_CANCELLED, stopped.State, stopped.Reason)
			require.Equal(t, "enough", stopped.Reason)
		})
	}
}
