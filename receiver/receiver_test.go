package receiver_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"gnomon/receiver"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func start(t *testing.T, c receiver.Config) *receiver.Receiver {
	t.Helper()
	r, err := receiver.Start(t.Context(), c)
	require.NoError(t, err)
	t.Cleanup(func() { _ = r.Close() })
	return r
}

// send posts a body with headers given as name, value, name, value. It may be called
// from other goroutines.
func send(ctx context.Context, url, body string, headers ...string) (status int, reply string, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	// Connections of its own, so that none outlives the test.
	transport := &http.Transport{DisableKeepAlives: true}
	resp, err := transport.RoundTrip(req)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(b), err
}

// gnomonHeaders are those of a second attempt.
func gnomonHeaders(due string) []string {
	return []string{
		"Idempotency-Key", "hello/g1/" + due, "Gnomon-Action-Id", "hello", "Gnomon-Action-Guid", "g1",
		"Gnomon-Scheduled-At", due, "Gnomon-Attempt", "2",
	}
}

const helloSHA256 = "93a23971a914e5eacbf0a8d25154cda309c3c1c72fbb9914d47c60f3cb681588" // {"hello":"world"}

// Every arrival is remembered with what gnomon's headers say and appended to the
// record, a line each, across restarts.
func TestArrivalsAreRemembered(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "arrivals.jsonl")
	due := time.Now().Add(-time.Second).UTC()
	began := time.Now()
	for range 2 {
		r := start(t, receiver.Config{RecordPath: path})
		status, _, err := send(t.Context(), r.URL("/hello?token=secret"), `{"hello":"world"}`, gnomonHeaders(due.Format(time.RFC3339Nano))...)
		require.NoError(t, err)
		require.Equal(t, 200, status)
		_, _, err = send(t.Context(), r.URL("/status/503"), "")
		require.NoError(t, err)

		all := r.Arrivals()
		require.Len(t, all, 2)
		a := all[0]
		require.EqualValues(t, 1, a.Number)
		require.Equal(t, "POST", a.Method)
		require.Equal(t, "/hello", a.Path)
		require.Equal(t, "hello", a.ActionID)
		require.Equal(t, "g1", a.GUID)
		require.True(t, due.Equal(a.ScheduledAt))
		require.EqualValues(t, 2, a.Attempt)
		require.Equal(t, "hello/g1/"+due.Format(time.RFC3339Nano), a.IdempotencyKey)
		require.Equal(t, 200, a.Status)
		require.JSONEq(t, `{"hello":"world"}`, string(a.Body))
		require.EqualValues(t, 17, a.BodyBytes)
		require.Equal(t, helloSHA256, a.BodySHA256)
		require.Equal(t, "hello", a.Header.Get("Gnomon-Action-Id"))
		require.WithinRange(t, a.Time, began, time.Now())
		require.Equal(t, a.Time.Sub(due), a.Late())
		require.Equal(t, 503, all[1].Status)
		require.Zero(t, all[1].Late())
		require.NoError(t, r.Close())
	}

	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NotContains(t, string(text), "secret")
	require.NotContains(t, string(text), "world", "no body is recorded")
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	require.Len(t, lines, 4)
	var fields map[string]any
	require.NoError(t, json.Unmarshal([]byte(lines[2]), &fields))
	require.Regexp(t, `^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z$`, fields["time"])
	delete(fields, "time")
	require.Equal(t, map[string]any{
		"number": 1.0, "method": "POST", "path": "/hello", "action_id": "hello", "guid": "g1", "attempt": 2.0,
		"scheduled_at": due.Format(time.RFC3339Nano), "idempotency_key": "hello/g1/" + due.Format(time.RFC3339Nano),
		"status": 200.0, "body_bytes": 17.0, "body_sha256": helloSHA256,
	}, fields)
}

// Headers that cannot be read are as good as absent.
func TestArrivalWithBrokenHeaders(t *testing.T) {
	t.Parallel()
	r := start(t, receiver.Config{})
	_, _, err := send(t.Context(), r.URL("/"), "", "Gnomon-Attempt", "-1", "Gnomon-Scheduled-At", "tomorrow")
	require.NoError(t, err)
	require.Zero(t, r.Arrivals()[0].Attempt)
	require.Zero(t, r.Arrivals()[0].ScheduledAt)
}

// The record is there before the answer is.
func TestRecordIsWrittenBeforeTheAnswer(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "arrivals.jsonl")
	r := start(t, receiver.Config{RecordPath: path})
	for n := range 20 {
		_, _, err := send(t.Context(), r.URL("/ok"), "")
		require.NoError(t, err)
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, n+1, bytes.Count(text, []byte("\n")))
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errors.New("disk full") }

// What is not on record does not count as arrived, and Close tells.
func TestRecordThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	r := start(t, receiver.Config{Record: brokenWriter{}})
	status, _, err := send(t.Context(), r.URL("/ok"), "")
	require.NoError(t, err)
	require.Equal(t, 500, status)
	require.ErrorContains(t, r.Close(), "record arrival 1: disk full")
}

type flushed struct {
	bytes.Buffer

	flushes int
}

func (f *flushed) Flush() error {
	f.flushes++
	return nil
}

func TestRecordIsFlushedPerLine(t *testing.T) {
	t.Parallel()
	var record flushed
	r := start(t, receiver.Config{Record: &record})
	for range 3 {
		_, _, err := send(t.Context(), r.URL("/ok"), "")
		require.NoError(t, err)
	}
	require.NoError(t, r.Close())
	require.Equal(t, 3, record.flushes)
	require.Equal(t, 3, bytes.Count(record.Bytes(), []byte("\n")))
}

// Only the last ones are remembered, so that a receiver can run for days.
func TestOldArrivalsAreForgotten(t *testing.T) {
	t.Parallel()
	r := start(t, receiver.Config{Keep: 3})
	for range 11 {
		_, _, err := send(t.Context(), r.URL("/ok"), "")
		require.NoError(t, err)
	}
	var numbers []uint64
	for _, a := range r.Arrivals() {
		numbers = append(numbers, a.Number)
	}
	require.Equal(t, []uint64{9, 10, 11}, numbers)
}

// Bodies are hashed as a whole, kept in part, and refused above 1 MiB.
func TestLargeBodies(t *testing.T) {
	t.Parallel()
	r := start(t, receiver.Config{})
	for size, want := range map[int]int{4096: 200, 128 << 10: 200, 1 << 20: 200, 1<<20 + 1: 413} {
		status, _, err := send(t.Context(), r.URL("/ok"), strings.Repeat("x", size))
		require.NoError(t, err)
		require.Equal(t, want, status, size)
		all := r.Arrivals()
		a := all[len(all)-1]
		require.Equal(t, want, a.Status)
		require.EqualValues(t, min(size, 1<<20), a.BodyBytes)
		require.Len(t, a.Body, 4096)
	}
}

// A request that breaks off in its body has arrived, and counts as refused.
func TestBodyThatBreaksOff(t *testing.T) {
	t.Parallel()
	r := start(t, receiver.Config{})
	c, err := net.Dial("tcp", r.Addr())
	require.NoError(t, err)
	defer c.Close()
	_, err = io.WriteString(c, "POST /ok HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\nabc")
	require.NoError(t, err)
	require.NoError(t, c.(*net.TCPConn).CloseWrite())
	a, err := r.Wait(t.Context(), anyArrival)
	require.NoError(t, err)
	require.Equal(t, 400, a.Status)
	require.Equal(t, "abc", string(a.Body))
}

func TestConfigIsChecked(t *testing.T) {
	t.Parallel()
	taken := start(t, receiver.Config{})
	for text, c := range map[string]receiver.Config{
		"Config.Record and Config.RecordPath must not be set both": {Record: io.Discard, RecordPath: "x"},
		"Config.Keep must not be negative":                         {Keep: -1},
		"receiver: Config.RecordPath: ":                            {RecordPath: "/dev/null/absent"},
		"receiver: Config.Address: ":                               {Address: taken.Addr()},
	} {
		_, err := receiver.Start(t.Context(), c)
		require.ErrorContains(t, err, text)
	}
}
