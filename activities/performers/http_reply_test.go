package performers_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/durationpb"

	gnomonv1 "gnomon/api/gnomon/v1"

	"gnomon/activities/performers"
)

// trickle sends a byte at once and then one for each tick, until the client leaves.
func trickle(status int, tick time.Duration) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		ticks := time.NewTicker(tick)
		defer ticks.Stop()
		w.WriteHeader(status)
		for r.Context().Err() == nil {
			_, _ = io.WriteString(w, "x")
			w.(http.Flusher).Flush()
			select {
			case <-ticks.C:
			case <-r.Context().Done():
			}
		}
	}
}

// HttpRequest.timeout, M-37: the request's own limit, body included, makes a failed
// attempt and not one that was stopped.
func TestHTTPTimeLimitIsAFailure(t *testing.T) {
	t.Parallel()
	hang := func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	}
	for name, h := range map[string]http.HandlerFunc{"no reply": hang, "slow body": trickle(200, 20*time.Millisecond)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, h)
			began := time.Now()
			_, err := performHTTP(t.Context(), t, &gnomonv1.HttpRequest{Url: s.URL, Timeout: durationpb.New(200 * time.Millisecond)})
			took := time.Since(began)
			require.EqualError(t, err, "POST "+s.URL+" did not end within its time limit of 200ms")
			require.NotErrorIs(t, err, context.DeadlineExceeded)
			require.False(t, performers.IsPermanent(err))
			require.GreaterOrEqual(t, took, 200*time.Millisecond)
			require.Less(t, took, 5*time.Second)
		})
	}
}

// A refusal counts as such even where its body never ends, and the time limit holds
// there too.
func TestHTTPStatusCountsWhereTheBodyNeverEnds(t *testing.T) {
	t.Parallel()
	s := serve(t, trickle(404, 20*time.Millisecond))
	reply, err := performHTTP(t.Context(), t, &gnomonv1.HttpRequest{
		Url: s.URL, Timeout: durationpb.New(200 * time.Millisecond), GiveUpOnClientError: true,
	})
	require.EqualError(t, err, "POST "+s.URL+" answered with status 404 Not Found")
	require.True(t, performers.IsPermanent(err))
	require.Regexp(t, "^x+$", reply.Text)
}

// M-38: an attempt that is stopped ends soon, with its context's error.
func TestHTTPStopsWithItsContext(t *testing.T) {
	t.Parallel()
	for name, h := range map[string]http.HandlerFunc{
		"before the reply": func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			<-r.Context().Done()
		},
		"in the body": trickle(200, 20*time.Millisecond),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			arrived := make(chan struct{})
			s := serve(t, func(w http.ResponseWriter, r *http.Request) {
				close(arrived)
				h(w, r)
			})
			ctx, cancel := context.WithCancel(t.Context())
			go func() {
				<-arrived
				cancel()
			}()
			_, err := performHTTP(ctx, t, &gnomonv1.HttpRequest{Url: s.URL, Timeout: durationpb.New(time.Minute)})
			require.ErrorIs(t, err, context.Canceled)
			require.EqualError(t, err, "POST "+s.URL+" was stopped: context canceled")
		})
	}
	t.Run("already over", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		s := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("was sent all the same") })
		_, err := performHTTP(ctx, t, &gnomonv1.HttpRequest{Url: s.URL})
		require.ErrorIs(t, err, context.Canceled)
	})
}

// A reply is read up to 64 KiB and no more: one that never ends succeeds as soon as
// that much has come.
func TestHTTPReadsNoMoreThanItMust(t *testing.T) {
	t.Parallel()
	const megabyte = 1 << 20
	sent := make(chan int, 1)
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		n := 0
		for r.Context().Err() == nil {
			m, err := w.Write(make([]byte, 32<<10))
			n += m
			if err != nil || r.URL.Path == "/10MB" && n >= 10*megabyte {
				break
			}
		}
		sent <- n
	})
	for _, path := range []string{"/10MB", "/endless"} {
		reply, err := performHTTP(t.Context(), t, &gnomonv1.HttpRequest{Url: s.URL + path, Timeout: durationpb.New(time.Minute)})
		require.NoError(t, err)
		require.Equal(t, strings.Repeat("\x00", 1021)+"…", reply.Text)
		// Beyond the 64 KiB it is what the kernel's buffers take.
		require.Less(t, <-sent, 32*megabyte)
	}
}

// HttpRequest: what is kept of a reply is valid UTF-8 of at most 1 KiB.
func TestHTTPReplyText(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ body, text string }{
		"empty":         {"", ""},
		"short":         {"done", "done"},
		"1 KiB":         {strings.Repeat("x", 1024), strings.Repeat("x", 1024)},
		"1 KiB and one": {strings.Repeat("x", 1025), strings.Repeat("x", 1021) + "…"},
		"invalid UTF-8": {"a\xff\xc3\x28b", "a\uFFFD(b"},
		"all invalid":   {strings.Repeat("\xff", 4000), "\uFFFD"},
		"long, wide":    {strings.Repeat("€", 20000), strings.Repeat("€", 340) + "…"},
		"64 KiB":        {strings.Repeat("x", 64<<10), strings.Repeat("x", 1021) + "…"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, c.body) })
			reply, err := performHTTP(t.Context(), t, &gnomonv1.HttpRequest{Url: s.URL})
			require.NoError(t, err)
			require.Equal(t, c.text, reply.Text)
		})
	}
}

// A reply that breaks off is no success: what it said is not known.
func TestHTTPReplyThatBreaksOff(t *testing.T) {
	t.Parallel()
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		_, _ = io.WriteString(w, "half a rep")
	})
	reply, err := performHTTP(t.Context(), t, &gnomonv1.HttpRequest{Url: s.URL})
	require.EqualError(t, err, "POST "+s.URL+": the reply of status 200 broke off")
	require.Equal(t, "half a rep", reply.Text)
}

// A header is bounded like a body.
func TestHTTPReplyWithAHugeHeader(t *testing.T) {
	t.Parallel()
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Huge", strings.Repeat("secret", 1<<20))
	})
	_, err := performHTTP(t.Context(), t, &gnomonv1.HttpRequest{Url: s.URL})
	require.ErrorContains(t, err, "POST "+s.URL+": ")
	require.NotContains(t, err.Error(), "secret")
}

// A server that takes the connection and says nothing at all, not even TLS.
func TestHTTPServerThatNeverSpeaks(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, l.Close()) })
	for _, scheme := range []string{"http://", "https://"} {
		url := scheme + l.Addr().String()
		_, err = performHTTP(t.Context(), t, &gnomonv1.HttpRequest{Url: url, Timeout: durationpb.New(100 * time.Millisecond)})
		require.EqualError(t, err, "POST "+url+" did not end within its time limit of 100ms")
	}
}
