package performers

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/outbound"
)

// httpPerformer performs http_request. One attempt is one request and what it is
// redirected to.
type httpPerformer struct{ client *outbound.Client }

func newHTTP(c outbound.HTTPConfig) *httpPerformer {
	return &httpPerformer{client: outbound.NewClient(c)}
}

// Close gives up the connections that are kept for reuse.
func (h *httpPerformer) Close() error { return h.client.Close() }

// Perform sends the request and judges the reply by its status. The reply's text
// is there whatever the status. A reply that breaks off or is not over within the
// time limit is an error, one longer than MaxReplyBytes is not.
func (h *httpPerformer) Perform(ctx context.Context, r Request) (Reply, error) {
	spec := r.Action.GetHttpRequest()
	if spec == nil {
		return Reply{}, misdirected(kindHTTP)
	}
	req, err := newHTTPRequest(ctx, spec, r)
	if err != nil {
		return Reply{}, err
	}
	answer, err := h.client.Do(req, outbound.Call{
		Limit: timeLimit(spec.GetTimeout()),
		// A status that the spec itself lists as accepted is the reply.
		Redirects: outbound.FollowRedirects(func(status int) bool { return listed(spec, status) }),
		// A little more than is shown, so that Shorten sees that something was cut.
		Keep: MaxTextBytes + utf8.UTFMax,
	})
	if err != nil {
		return Reply{}, err
	}
	reply := Reply{Text: Shorten(string(answer.Body))}
	if !accepted(spec, answer.Status) {
		return reply, statusError(spec, answer.Place, answer.Status)
	}
	return reply, answer.Broken
}

// newHTTPRequest makes the request of the spec with gnomon's headers, which win
// over the spec's.
func newHTTPRequest(ctx context.Context, spec *gnomonv1.HttpRequest, r Request) (*http.Request, error) {
	method := cmp.Or(spec.GetMethod(), http.MethodPost)
	var body io.Reader
	if len(spec.GetBody()) > 0 {
		body = bytes.NewReader(spec.GetBody())
	}
	req, err := http.NewRequestWithContext(ctx, method, spec.GetUrl(), body)
	if err != nil {
		// The error of net/http would quote the URL.
		return nil, Permanent(errors.New("action.http_request: method or url cannot be used"))
	}
	if !outbound.IsHTTP(req.URL) || req.URL.Host == "" {
		return nil, Permanent(errors.New("action.http_request.url must be an absolute http or https URL"))
	}
	req.Header.Set("User-Agent", outbound.UserAgent)
	// In order, so that two spellings of one name always come out the same.
	for _, name := range slices.Sorted(maps.Keys(spec.GetHeaders())) {
		value := spec.GetHeaders()[name]
		if strings.EqualFold(name, "Host") {
			req.Host = value
			continue
		}
		req.Header.Set(name, value)
	}
	req.Header.Set("Idempotency-Key", r.IdempotencyKey)
	req.Header.Set("Gnomon-Action-Id", r.ID)
	req.Header.Set("Gnomon-Action-Guid", r.GUID)
	req.Header.Set("Gnomon-Scheduled-At", r.Occurrence.UTC().Format(time.RFC3339Nano))
	req.Header.Set("Gnomon-Attempt", strconv.FormatUint(uint64(r.Attempt), 10))
	return req, nil
}

// accepted says whether a status is a success (HttpRequest.accepted_status).
func accepted(spec *gnomonv1.HttpRequest, status int) bool {
	if len(spec.GetAcceptedStatus()) == 0 {
		return status >= 200 && status <= 299
	}
	return listed(spec, status)
}

// listed says whether the spec names a status itself.
func listed(spec *gnomonv1.HttpRequest, status int) bool {
	return slices.ContainsFunc(spec.GetAcceptedStatus(), func(s *gnomonv1.HttpRequest_StatusRange) bool {
		last := cmp.Or(s.GetLast(), s.GetFirst())
		return status >= int(s.GetFirst()) && status <= int(last)
	})
}

// statusError is the failure of a status that is not accepted.
func statusError(spec *gnomonv1.HttpRequest, at string, status int) error {
	err := fmt.Errorf("%s answered with status %s", at, strings.TrimSpace(fmt.Sprint(status, " ", http.StatusText(status))))
	clientError := status >= 400 && status <= 499 &&
		status != http.StatusRequestTimeout && status != http.StatusTooManyRequests
	if clientError && spec.GetGiveUpOnClientError() {
		return Permanent(err)
	}
	return err
}
