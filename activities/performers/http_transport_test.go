package performers_test

import (
	"compress/gzip"
	"context"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/durationpb"

	gnomonv1 "gnomon/api/gnomon/v1"

	"gnomon/activities/performers"
	"gnomon/outbound"
)

// silence is a transport to nowhere.
type silence struct{}

func (silence) RoundTrip(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// HttpRequest.timeout: 10 seconds where absent, at most 10 minutes.
func TestHTTPTimeLimits(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		timeout *durationpb.Duration
		want    time.Duration
	}{
		"absent": {nil, 10 * time.Second},
		"zero":   {durationpb.New(0), 10 * time.Second},
		"short":  {durationpb.New(time.Millisecond), time.Millisecond},
		"most":   {durationpb.New(10 * time.Minute), 10 * time.Minute},
		"more":   {durationpb.New(11 * time.Minute), 10 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				a := httpAction(&gnomonv1.HttpRequest{Url: "http://host", Timeout: c.timeout})
				p := performerOf(t, newSet(t, performers.Config{HTTP: outbound.HTTPConfig{Transport: silence{}}}), a)
				began := time.Now()
				_, err := p.Perform(t.Context(), request(a))
				require.EqualError(t, err, "POST http://host did not end within its time limit of "+c.want.String())
				require.Equal(t, c.want, time.Since(began))
			})
		})
	}
}

// M-38: where the attempt's own deadline comes first, the attempt was stopped.
func TestHTTPStopsAtTheAttemptsDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		a := httpAction(&gnomonv1.HttpRequest{Url: "http://host"})
		p := performerOf(t, newSet(t, performers.Config{HTTP: outbound.HTTPConfig{Transport: silence{}}}), a)
		_, err := p.Perform(ctx, request(a))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.EqualError(t, err, "POST http://host was stopped: context deadline exceeded")
	})
}

// A little that unpacks to a lot is not unpacked beyond what is read of any reply:
// this one would never end.
func TestHTTPReplyThatUnpacksToALot(t *testing.T) {
	t.Parallel()
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		for r.Context().Err() == nil {
			_, _ = z.Write(make([]byte, 64<<10))
			_ = z.Flush()
			w.(http.Flusher).Flush()
		}
	})
	reply, err := performHTTP(t.Context(), t, &gnomonv1.HttpRequest{Url: s.URL})
	require.NoError(t, err)
	require.Equal(t, strings.Repeat("\x00", 1021)+"…", reply.Text)
}
