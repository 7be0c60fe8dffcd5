package receiver

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"
)

// Limits of a request's body. gnomon sends at most 128 KiB (HttpRequest.body).
const (
	// maxBodyBytes is what is read; a longer body is answered with 413.
	maxBodyBytes = 1 << 20
	// keptBodyBytes is what is remembered.
	keptBodyBytes = 4 << 10
)

// Arrival is one request that reached the receiver. Its JSON is a line of the
// record; what the request did not say is left out there.
type Arrival struct {
	// Number counts from 1 in the order of the record.
	Number uint64 `json:"number"`
	// Time is when its header had been read, with nanoseconds, in UTC.
	Time time.Time `json:"time"`
	// Method and Path are the request's; the query is in neither.
	Method string `json:"method"`
	Path   string `json:"path"`
	// ActionID and GUID are the headers Gnomon-Action-Id and Gnomon-Action-Guid.
	ActionID string `json:"action_id,omitempty"`
	GUID     string `json:"guid,omitempty"`
	// BatchID and ChangeIndex are the headers Gnomon-Batch-Id and Gnomon-Change-Index of
	// a change of a batch, as they came.
	BatchID     string `json:"batch_id,omitempty"`
	ChangeIndex string `json:"change_index,omitempty"`
	// ScheduledAt is the occurrence: Gnomon-Scheduled-At, zero if absent.
	ScheduledAt time.Time `json:"scheduled_at,omitzero"`
	// Attempt is Gnomon-Attempt, from 1, 0 if absent.
	Attempt uint32 `json:"attempt,omitempty"`
	// IdempotencyKey is the header Idempotency-Key.
	IdempotencyKey string `json:"idempotency_key,omitempty"`
	// Status is the one it is answered with.
	Status int `json:"status"`
	// BodyBytes is the length of the body as far as it was read, at most 1 MiB, and
	// BodySHA256 its hash in hexadecimal.
	BodyBytes  int64  `json:"body_bytes"`
	BodySHA256 string `json:"body_sha256"`
	// Body is its first 4 KiB. Not recorded.
	Body []byte `json:"-"`
	// Header is the request's. Not recorded.
	Header http.Header `json:"-"`
}

// Late is how long after its due time the request arrived, negative if before. It
// is 0 where the request named no due time.
func (a Arrival) Late() time.Duration {
	if a.ScheduledAt.IsZero() {
		return 0
	}
	return a.Time.Sub(a.ScheduledAt)
}

// readArrival reads the request. The error is that of its body, which is too long
// or broke off; the arrival has what was read until then.
func readArrival(r *http.Request, now time.Time) (Arrival, error) {
	a := Arrival{
		Time:           now.UTC(),
		Method:         r.Method,
		Path:           r.URL.Path,
		ActionID:       r.Header.Get("Gnomon-Action-Id"),
		GUID:           r.Header.Get("Gnomon-Action-Guid"),
		BatchID:        r.Header.Get("Gnomon-Batch-Id"),
		ChangeIndex:    r.Header.Get("Gnomon-Change-Index"),
		IdempotencyKey: r.Header.Get("Idempotency-Key"),
		Header:         r.Header.Clone(),
	}
	if due, err := time.Parse(time.RFC3339Nano, r.Header.Get("Gnomon-Scheduled-At")); err == nil {
		a.ScheduledAt = due.UTC()
	}
	if n, err := strconv.ParseUint(r.Header.Get("Gnomon-Attempt"), 10, 32); err == nil {
		a.Attempt = uint32(n)
	}
	hash := sha256.New()
	body := io.TeeReader(io.LimitReader(r.Body, maxBodyBytes), hash)
	start, err := io.ReadAll(io.LimitReader(body, keptBodyBytes))
	a.Body, a.BodyBytes = start, int64(len(start))
	if err == nil {
		var rest int64
		rest, err = io.Copy(io.Discard, body)
		a.BodyBytes += rest
	}
	a.BodySHA256 = hex.EncodeToString(hash.Sum(nil))
	if err == nil && a.BodyBytes == maxBodyBytes {
		if n, _ := r.Body.Read(make([]byte, 1)); n > 0 {
			err = errLongBody
		}
	}
	return a, err
}

var errLongBody = errors.New("the body is longer than 1 MiB")
