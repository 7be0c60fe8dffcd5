package receiver_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gnomon/receiver"
)

func TestLine(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 21, 10, 0, 0, 12e6, time.UTC)
	due := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	amsterdam := time.FixedZone("", 3600)
	for want, a := range map[string]receiver.Arrival{
		`10:00:00.012  POST /hello  action=hello attempt=1 due=10:00:00.000 late=12ms  {"hello":"world"}`: {
			Time: at, Method: "POST", Path: "/hello", ActionID: "hello", Attempt: 1, ScheduledAt: due, Status: 200, Body: []byte("{\"hello\":\"world\"}\n"),
		},
		"10:00:00.012  POST /judge  batch=release change=0": {
			Time: at, Method: "POST", Path: "/judge", BatchID: "release", ChangeIndex: "0", Status: 200,
		},
		"10:00:00.012  GET /": {Time: at, Method: "GET", Path: "/", Status: 200},
		"10:00:00.012  POST /status/503  action=a attempt=3 due=09:59:54.512 late=5.5s status=503": {
			Time: at, Method: "POST", Path: "/status/503", ActionID: "a", Attempt: 3, ScheduledAt: at.Add(-5500 * time.Millisecond), Status: 503,
		},
		"10:00:00.012  POST /early  action=a attempt=1 due=10:00:01.012 late=-1s": {
			Time: at, Method: "POST", Path: "/early", ActionID: "a", Attempt: 1, ScheduledAt: at.Add(time.Second), Status: 200,
		},
		"10:00:00.012  POST /yesterday  action=a attempt=1 due=2026-11-20T10:00:00.012 late=24h0m0s": {
			Time: at, Method: "POST", Path: "/yesterday", ActionID: "a", Attempt: 1, ScheduledAt: at.Add(-24 * time.Hour), Status: 200,
		},
		"10:00:00.012  POST /a b  a  [2J b €": {
			Time: at, Method: "POST", Path: "/a\nb", Status: 200, Body: []byte("a\n\x1b[2J\xffb\u202e€"),
		},
		"10:00:00.012  POST /long  " + strings.Repeat("€", 80) + "…": {
			Time: at, Method: "POST", Path: "/long", Status: 200, Body: []byte(strings.Repeat("€", 81)),
		},
		"10:00:00.012  POST /fits  " + strings.Repeat("€", 80): {
			Time: at, Method: "POST", Path: "/fits", Status: 200, Body: []byte(strings.Repeat("€", 80)),
		},
	} {
		require.Equal(t, want, a.Line(time.UTC))
	}
	require.Equal(t, "11:00:00.012  GET /", receiver.Arrival{Time: at, Method: "GET", Path: "/", Status: 200}.Line(amsterdam))
}

// The lines come out as requests arrive, in the zone asked for.
func TestOut(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	r := start(t, receiver.Config{Out: &out, Location: time.UTC})
	_, _, err := send(t.Context(), r.URL("/hello"), "hi", gnomonHeaders("2026-01-02T03:04:05.678Z")...)
	require.NoError(t, err)
	require.NoError(t, r.Close())
	require.Regexp(t, `^\d\d:\d\d:\d\d\.\d{3}  POST /hello  action=hello attempt=2 due=2026-01-02T03:04:05\.678 late=-?[0-9hms.]+  hi\n$`, out.String())
}
