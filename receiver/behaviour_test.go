package receiver_test

import (
	"context"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gnomon/receiver"
)

// What paths ask for is what they get.
func TestPathsAskForAnswers(t *testing.T) {
	t.Parallel()
	r := start(t, receiver.Config{})
	for _, c := range []struct {
		path    string
		attempt int
		status  int
		text    string
	}{
		{path: "/", status: 200, text: "received\n"},
		{path: "/hello/world", status: 200, text: "received\n"},
		{path: "/ok", status: 200, text: "received\n"},
		{path: "/ok/invoice", status: 200, text: "received\n"},
		{path: "/status/200", status: 200, text: "OK\n"},
		{path: "/status/204", status: 204},
		{path: "/status/503", status: 503, text: "Service Unavailable\n"},
		{path: "/status/599/invoice", status: 599, text: "status 599\n"},
		{path: "/fail-first/2", attempt: 1, status: 503, text: "attempt 1 of 2 that fail\n"},
		{path: "/fail-first/2", attempt: 2, status: 503, text: "attempt 2 of 2 that fail\n"},
		{path: "/fail-first/2", attempt: 3, status: 200, text: "received\n"},
		{path: "/fail-first/2/invoice", attempt: 2, status: 503, text: "attempt 2 of 2 that fail\n"},
		{path: "/fail-first/1", status: 503, text: "attempt 1 of 1 that fail\n"},
		{path: "/fail-first/0", attempt: 1, status: 200, text: "received\n"},
		{path: "/slow/1ms", status: 200, text: "received, slowly\n"},
		{path: "/big/0", status: 200},
		{path: "/big/100000", status: 200, text: strings.Repeat("x", 100000)},
		{path: "/status/abc", status: 400, text: "/status/N takes a status from 200 to 599\n"},
		{path: "/status/101", status: 400, text: "/status/N takes a status from 200 to 599\n"},
		{path: "/status/600", status: 400, text: "/status/N takes a status from 200 to 599\n"},
		{path: "/status", status: 400, text: "/status/N takes a status from 200 to 599\n"},
		{path: "/fail-first/-1", status: 400, text: "/fail-first/N takes how many attempts fail\n"},
		{path: "/slow/5", status: 400, text: "/slow/D takes a time such as 5s or 300ms\n"},
		{path: "/slow/-5s", status: 400, text: "/slow/D takes a time such as 5s or 300ms\n"},
		{path: "/judge", status: 200, text: `{"hard":[],"soft":[]}` + "\n"},
		{path: "/judge/hard/no%20order", status: 200, text: `{"hard":["no order"],"soft":[]}` + "\n"},
		{path: "/judge/soft/FRIDAY", status: 200, text: `{"hard":[],"soft":["FRIDAY"]}` + "\n"},
		{path: "/judge/mild/FRIDAY", status: 400, text: "/judge/hard/X and /judge/soft/X take a problem\n"},
		{path: "/judge/hard", status: 400, text: "/judge/hard/X and /judge/soft/X take a problem\n"},
		{path: "/judge/hard/no%20order/1", status: 200, text: `{"hard":["no order"],"soft":[]}` + "\n"},
		{path: "/judge/hard/x/only/0", status: 400, text: "/judge/hard/X/only/N takes which question finds the problem, from 1\n"},
		{path: "/judge/hard/x/only/x", status: 400, text: "/judge/hard/X/only/N takes which question finds the problem, from 1\n"},
		{path: "/judge/hard/x/only", status: 400, text: "/judge/hard/X/only/N takes which question finds the problem, from 1\n"},
		{path: "/big/x", status: 400, text: "/big/N takes a number of bytes\n"},
	} {
		var headers []string
		if c.attempt > 0 {
			headers = []string{"Gnomon-Attempt", strconv.Itoa(c.attempt)}
		}
		status, text, err := send(t.Context(), r.URL(c.path), "", headers...)
		require.NoError(t, err, c.path)
		require.Equal(t, c.status, status, c.path)
		require.Equal(t, c.text, text, c.path)
		all := r.Arrivals()
		require.Equal(t, c.status, all[len(all)-1].Status)
	}
}

// A slow answer takes at least as long as asked.
func TestSlow(t *testing.T) {
	t.Parallel()
	r := start(t, receiver.Config{})
	began := time.Now()
	_, _, err := send(t.Context(), r.URL("/slow/100ms"), "")
	require.NoError(t, err)
	require.GreaterOrEqual(t, time.Since(began), 100*time.Millisecond)
}

type sent struct {
	status int
	err    error
}

// sendAway sends without waiting for the answer.
func sendAway(ctx context.Context, r *receiver.Receiver, path string) <-chan sent {
	done := make(chan sent, 1)
	go func() {
		status, _, err := send(ctx, r.URL(path), "")
		done <- sent{status, err}
	}()
	return done
}

// Held requests are seen while they are held, and answered by Release; later ones
// are held again.
func TestBlockHoldsUntilRelease(t *testing.T) {
	t.Parallel()
	r := start(t, receiver.Config{})
	r.Release() // for nobody
	for range 20 {
		path := "/block/" + t.Name()
		n := len(r.Arrivals())
		done := sendAway(t.Context(), r, path)
		_, err := r.Wait(t.Context(), func(a receiver.Arrival) bool { return a.Number > uint64(n) })
		require.NoError(t, err)
		require.Empty(t, done)
		r.Release()
		require.Equal(t, sent{status: 200}, <-done)
	}
}

// A held request goes with its client, and with the receiver, which then answers
// nothing, as if it had died.
func TestBlockEndsWithClientOrReceiver(t *testing.T) {
	t.Parallel()
	r := start(t, receiver.Config{})
	ctx, leave := context.WithCancel(t.Context())
	gone := sendAway(ctx, r, "/block/client")
	_, err := r.Wait(t.Context(), toPath("/block/client"))
	require.NoError(t, err)
	leave()
	require.ErrorIs(t, (<-gone).err, context.Canceled)

	held, slow := sendAway(t.Context(), r, "/block/receiver"), sendAway(t.Context(), r, "/slow/1h")
	for _, path := range []string{"/block/receiver", "/slow/1h"} {
		_, err := r.Wait(t.Context(), toPath(path))
		require.NoError(t, err)
	}
	began := time.Now()
	require.NoError(t, r.Close())
	require.Less(t, time.Since(began), time.Second, "what is held does not hold up the end")
	require.ErrorContains(t, (<-held).err, "EOF")
	require.ErrorContains(t, (<-slow).err, "EOF")
}

// V-07: a batch that was valid when it was submitted is not when its time has come, and is
// again after a repair: each batch is counted for itself.
func TestAProblemThatIsFoundOnce(t *testing.T) {
	t.Parallel()
	r := start(t, receiver.Config{})
	const fine, found = `{"hard":[],"soft":[]}`, `{"hard":[],"soft":["FRIDAY"]}`
	for _, uid := range []string{"u1", "u2"} {
		for _, want := range []string{fine, found, fine} {
			_, text, err := send(t.Context(), r.URL("/judge/soft/FRIDAY/only/2"), "", "Gnomon-Batch-Uid", uid)
			require.NoError(t, err)
			require.JSONEq(t, want, text)
			_, text, err = send(t.Context(), r.URL("/judge/soft/FRIDAY/only/7"), "", "Gnomon-Batch-Uid", uid)
			require.NoError(t, err)
			require.JSONEq(t, fine, text)
		}
	}
}
