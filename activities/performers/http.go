package performers

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// userAgent names gnomon to other sides, unless the spec's headers say otherwise.
const userAgent = "gnomon"

// maxReplyHeaderBytes bounds what a reply's header may take of memory.
const maxReplyHeaderBytes = 64 << 10

// httpPerformer performs http_request over one pool of connections.
//
// One attempt is one request and what it is redirected to. There is one exception,
// net/http's own: a request on a kept connection that breaks before the first byte
// of a reply is sent once more at once, with the same idempotency key, since the
// usual reason is a server that closed an idle connection.
type httpPerformer struct {
	transport     http.RoundTripper
	maxReplyBytes int64
}

func newHTTP(c HTTPConfig) *httpPerformer {
	h := &httpPerformer{transport: c.Transport, maxReplyBytes: c.MaxReplyBytes}
	if h.transport == nil {
		h.transport = &http.Transport{
			Proxy:                  http.ProxyFromEnvironment,
			DialContext:            (&net.Dialer{Timeout: c.DialTimeout, KeepAlive: 30 * time.Second}).DialContext,
			ForceAttemptHTTP2:      true,
			TLSHandshakeTimeout:    c.DialTimeout,
			MaxIdleConns:           c.MaxIdleConns,
			MaxIdleConnsPerHost:    c.MaxIdleConnsPerHost,
			IdleConnTimeout:        c.IdleConnTimeout,
			MaxResponseHeaderBytes: maxReplyHeaderBytes,
		}
	}
	return h
}

// Close gives up the connections that are kept for reuse.
func (h *httpPerformer) Close() error {
	(&http.Client{Transport: h.transport}).CloseIdleConnections()
	return nil
}

// Perform sends the request and judges the reply by its status. The reply's text
// is there whatever the status. A reply that breaks off or is not over within the
// time limit is an error, one longer than MaxReplyBytes is not.
func (h *httpPerformer) Perform(ctx context.Context, r Request) (Reply, error) {
	spec := r.Action.GetHttpRequest()
	if spec == nil {
		return Reply{}, misdirected(kindHTTP)
	}
	limit := timeLimit(spec.GetTimeout())
	inner, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	call := limited{attempt: ctx, call: inner, limit: limit}

	req, err := newHTTPRequest(inner, spec, r)
	if err != nil {
		return Reply{}, err
	}
	client := http.Client{Transport: h.transport, CheckRedirect: redirectRule(spec)}
	resp, err := client.Do(req)
	if err != nil {
		return Reply{}, cmp.Or(call.ended(place(req)), httpError(place(req), err))
	}
	defer resp.Body.Close()

	at := place(resp.Request)
	text, err := readReply(resp.Body, h.maxReplyBytes)
	reply := Reply{Text: text}
	switch {
	case !accepted(spec, resp.StatusCode):
		return reply, statusError(spec, at, resp.StatusCode)
	case err != nil:
		return reply, cmp.Or(call.ended(at), fmt.Errorf("%s: the reply of status %d broke off", at, resp.StatusCode))
	default:
		return reply, nil
	}
}

// newHTTPRequest makes the request of the spec with gnomon's headers, which win
// over the spec's. The context is the call's.
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
	if !httpScheme(req.URL) || req.URL.Host == "" {
		return nil, Permanent(errors.New("action.http_request.url must be an absolute http or https URL"))
	}
	req.Header.Set("User-Agent", userAgent)
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

// readReply reads a body to its end or to most bytes, of which it keeps only what
// will be shown. Reading to the end lets the connection be used again.
func readReply(body io.Reader, most int64) (string, error) {
	var kept bytes.Buffer
	// A little more than is shown, so that Shorten sees that something was cut.
	n, err := io.Copy(&kept, io.LimitReader(body, min(most, MaxTextBytes+utf8.UTFMax)))
	if err == nil {
		_, err = io.Copy(io.Discard, io.LimitReader(body, most-n))
	}
	return Shorten(kept.String()), err
}
