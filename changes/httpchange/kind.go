package httpchange

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/changes"
	"gnomon/outbound"
)

// name is the case of the oneof in gnomon.v1.Change.
const name = "http_change"

// A request's own time limit (HttpChange.timeout).
const (
	defaultLimit = 10 * time.Second
	maxLimit     = time.Minute
)

// Kind is the kind http_change. It keeps connections; Close gives them up.
type Kind struct{ client *outbound.Client }

// New makes the kind. Nothing is dialled yet.
func New(c outbound.HTTPConfig) (*Kind, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	return &Kind{client: outbound.NewClient(c)}, nil
}

// Name implements changes.Kind.
func (*Kind) Name() string { return name }

// Close gives up the connections that are kept for reuse.
func (k *Kind) Close() error { return k.client.Close() }

// post sends the body of a change, with the headers of the contract and those that more
// adds.
func (k *Kind) post(ctx context.Context, url string, of changes.Batch, s changes.Subject, keep int64, more func(http.Header)) (outbound.Reply, error) {
	spec := s.Change.GetHttpChange()
	body, err := encode(spec)
	if err != nil {
		return outbound.Reply{}, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil || !outbound.IsHTTP(req.URL) || req.URL.Host == "" {
		// The error of net/http would quote the URL.
		return outbound.Reply{}, errors.New("http_change: the URL cannot be used")
	}
	req.Header.Set("User-Agent", outbound.UserAgent)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	// In order, so that two spellings of one name always come out the same.
	for _, name := range slices.Sorted(maps.Keys(spec.GetHeaders())) {
		req.Header.Set(name, spec.GetHeaders()[name])
	}
	req.Header.Set("Gnomon-Batch-Id", of.ID)
	req.Header.Set("Gnomon-Batch-Uid", of.UID)
	req.Header.Set("Gnomon-Change-Index", strconv.Itoa(s.Index))
	if more != nil {
		more(req.Header)
	}
	return k.client.Do(req, outbound.Call{Limit: limit(spec), Redirects: outbound.NoRedirects, Keep: keep})
}

// limit is the time limit that a change stands for.
func limit(spec *gnomonv1.HttpChange) time.Duration {
	if d := spec.GetTimeout().AsDuration(); d > 0 {
		return min(d, maxLimit)
	}
	return defaultLimit
}

// encode is the body, the same to the byte for every request: protojson would not be.
func encode(spec *gnomonv1.HttpChange) ([]byte, error) {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	if err := e.Encode(spec.GetBody().AsInterface()); err != nil {
		// The rules of package batch let no such body pass.
		return nil, errors.New("http_change.body is not JSON")
	}
	return bytes.TrimSuffix(text.Bytes(), []byte("\n")), nil
}

// unanswered is the error of a status that is no answer, to be tried again, when the
// service says for how long it wants to be left alone.
func unanswered(r outbound.Reply) error {
	err := fmt.Errorf("%s answered with status %s", r.Place, strings.TrimSpace(fmt.Sprint(r.Status, " ", http.StatusText(r.Status))))
	if r.Status != http.StatusTooManyRequests && r.Status != http.StatusServiceUnavailable {
		return err
	}
	if after, ok := retryAfter(r.Header.Get("Retry-After"), time.Now()); ok {
		return changes.Later(err, after)
	}
	return err
}

// Bounds of what a service may ask for by Retry-After.
const (
	minRetryAfter = time.Second
	maxRetryAfter = 5 * time.Minute
)

// retryAfter reads the header (RFC 9110, section 10.2.3): seconds or a date.
func retryAfter(value string, now time.Time) (time.Duration, bool) {
	var after time.Duration
	if seconds, err := strconv.ParseUint(value, 10, 31); err == nil {
		after = time.Duration(seconds) * time.Second
	} else if at, err := http.ParseTime(value); err == nil {
		after = at.Sub(now)
	} else {
		return 0, false
	}
	return min(max(after, minRetryAfter), maxRetryAfter), true
}

// refused says whether a status is the service's own refusal.
func refused(status int) bool {
	return status >= 400 && status <= 499 && status != http.StatusRequestTimeout && status != http.StatusTooManyRequests
}
