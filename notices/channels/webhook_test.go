package channels_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/notices"
)

// V-17: what a webhook gets; nothing of what the batch holds.
func TestWebhook(t *testing.T) {
	t.Setenv("GNOMON_TEST_TOKEN", "Bearer s3cret")
	var got *http.Request
	var body string
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		got, body = r, string(b)
	}))
	t.Cleanup(s.Close)
	c := one(t, `
link: https://gnomon.example.org/v1/batches/{id}
channels:
  - name: on-call
    webhook:
      url: `+s.URL+`/hook?token=s3cret
      headers: {X-Team: dns}
      secret_headers: {Authorization: {env: GNOMON_TEST_TOKEN}}
`)
	require.NoError(t, c.Send(t.Context(), review(2)))
	require.Equal(t, "POST /hook?token=s3cret", got.Method+" "+got.URL.RequestURI())
	for name, want := range map[string]string{
		"Idempotency-Key": "release:7/uid-1/2/ScheduledChangeFailed", "Gnomon-Event": "ScheduledChangeFailed",
		"Content-Type": "application/json", "User-Agent": "gnomon", "X-Team": "dns", "Authorization": "Bearer s3cret",
	} {
		require.Equal(t, want, got.Header.Get(name))
	}
	require.JSONEq(t, `{
		"event": "ScheduledChangeFailed", "key": "release:7/uid-1/2/ScheduledChangeFailed",
		"batchId": "release:7", "batchUid": "uid-1", "state": "MANUAL_REVIEW", "round": 2,
		"scheduledAt": "2026-11-21T10:00:00Z",
		"pendingChanges": 7, "completeChanges": 3, "failedChanges": 1,
		"problems": [{"severity": "HARD", "code": "RECORD_EXISTS"}, {"changeIndex": 0, "severity": "HARD", "code": "RECORD_EXISTS"}],
		"link": "https://gnomon.example.org/v1/batches/release:7"
	}`, body)

	require.NoError(t, c.Send(t.Context(), review(1000)))
	require.Equal(t, 100, strings.Count(body, "RECORD_EXISTS"))
	require.Contains(t, body, `"moreProblems":900`)
	require.NotContains(t, body, "secret")

	done := review(0)
	done.Event, done.Batch.Status.State = notices.BatchComplete, gnomonv1.BatchStatus_COMPLETE
	require.NoError(t, c.Send(t.Context(), done))
	require.Contains(t, body, `"problems":[]`)
}

// A webhook that fails twice and then takes it gets the same key each time.
func TestWebhookThatFailsTwice(t *testing.T) {
	t.Parallel()
	var keys []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		keys = append(keys, r.Header.Get("Idempotency-Key"))
		if len(keys) <= 2 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	t.Cleanup(s.Close)
	c := one(t, "channels: [{name: a, webhook: {url: '"+s.URL+"/s3cret'}}]")
	for range 2 {
		require.EqualError(t, c.Send(t.Context(), review(1)), "POST "+s.URL+" answered with status 503")
	}
	require.NoError(t, c.Send(t.Context(), review(1)))
	require.Len(t, keys, 3)
	require.Equal(t, keys[0], keys[2])
}

// Whatever goes wrong, the error holds no secret.
func TestWebhookErrors(t *testing.T) {
	t.Parallel()
	hangs := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	}))
	t.Cleanup(hangs.Close)
	moved := httptest.NewServer(http.RedirectHandler("/s3cret", http.StatusTemporaryRedirect))
	t.Cleanup(moved.Close)
	for want, url := range map[string]string{
		"answered with status 307": moved.URL,
		"within its time limit":    hangs.URL,
		"connection refused":       "http://127.0.0.1:1",
		"lookup gnomon.invalid":    "http://gnomon.invalid",
	} {
		c := one(t, fmt.Sprintf("channels: [{name: a, webhook: {url: '%s/s3cret?s3cret', timeout: 100ms}}]", url))
		err := c.Send(t.Context(), review(1))
		require.ErrorContains(t, err, want)
		require.NotContains(t, err.Error(), "s3cret")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, one(t, "channels: [{name: a, webhook: {url: '"+hangs.URL+"'}}]").Send(ctx, review(1)), context.DeadlineExceeded)
}
