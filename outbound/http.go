package outbound

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"
)

// UserAgent names gnomon to other sides.
const UserAgent = "gnomon"

// MaxReplyHeaderBytes bounds what a reply's header may take of memory.
const MaxReplyHeaderBytes = 64 << 10

// Client sends requests over one pool of connections. It may be used concurrently.
//
// A call is one request and what it is redirected to. There is one exception,
// net/http's own: a request on a kept connection that breaks before the first byte
// of a reply is sent once more at once, with the same headers, since the usual reason
// is a server that closed an idle connection. net/http does so for requests that are
// safe to repeat or say so by an Idempotency-Key.
type Client struct {
	transport     http.RoundTripper
	maxReplyBytes int64
}

// NewClient makes a client of c, whose zero fields take their default. Nothing is
// dialled yet.
func NewClient(c HTTPConfig) *Client {
	c = c.WithDefaults()
	client := &Client{transport: c.Transport, maxReplyBytes: c.MaxReplyBytes}
	if client.transport == nil {
		client.transport = &http.Transport{
			Proxy:                  http.ProxyFromEnvironment,
			DialContext:            (&net.Dialer{Timeout: c.DialTimeout, KeepAlive: 30 * time.Second}).DialContext,
			ForceAttemptHTTP2:      true,
			TLSHandshakeTimeout:    c.DialTimeout,
			MaxIdleConns:           c.MaxIdleConns,
			MaxIdleConnsPerHost:    c.MaxIdleConnsPerHost,
			IdleConnTimeout:        c.IdleConnTimeout,
			MaxResponseHeaderBytes: MaxReplyHeaderBytes,
		}
	}
	return client
}

// Close gives up the connections that are kept for reuse.
func (c *Client) Close() error {
	(&http.Client{Transport: c.transport}).CloseIdleConnections()
	return nil
}

// Call is how a request is sent.
type Call struct {
	// Limit bounds the call, its redirects and the reading of the reply.
	Limit time.Duration
	// Redirects says what follows a redirect: [FollowRedirects] or [NoRedirects].
	Redirects RedirectRule
	// Keep is how many bytes of the reply's body are wanted, at most MaxReplyBytes.
	Keep int64
}

// Reply is what the other side said.
type Reply struct {
	Status int
	Header http.Header
	// Body is its beginning, up to Call.Keep bytes.
	Body []byte
	// More: Body is not all there was, or it is not known whether it is.
	More bool
	// Place says who answered, fit for an error: method, scheme and host.
	Place string
	// Broken says that the body broke off or was not over within the limit. A body
	// that is longer than what is read is not broken.
	Broken error
}

// Do sends a request within the request's context and the call's limit. The error
// says that there was no reply; it wraps that of the context where this ended, and
// never otherwise.
func (c *Client) Do(req *http.Request, how Call) (Reply, error) {
	call, cancel := Limit(req.Context(), how.Limit)
	defer cancel()
	req = req.WithContext(call.Context())
	client := http.Client{Transport: c.transport, CheckRedirect: how.Redirects}
	resp, err := traced(req, client.Do)
	if err != nil {
		return Reply{}, cmp.Or(call.Ended(place(req)), httpError(place(req), err))
	}
	defer resp.Body.Close()

	reply := Reply{Status: resp.StatusCode, Header: resp.Header, Place: place(resp.Request)}
	reply.Body, reply.More, err = c.read(resp.Body, how.Keep)
	if err != nil {
		reply.More = true
		reply.Broken = cmp.Or(call.Ended(reply.Place), fmt.Errorf("%s: the reply of status %d broke off", reply.Place, reply.Status))
	}
	return reply, nil
}

// read reads a body to its end or to maxReplyBytes, of which it keeps what is asked
// for. Reading to the end lets the connection be used again.
func (c *Client) read(body io.Reader, keep int64) ([]byte, bool, error) {
	var kept bytes.Buffer
	n, err := io.Copy(&kept, io.LimitReader(body, min(c.maxReplyBytes, keep)))
	if err != nil {
		return kept.Bytes(), true, err
	}
	// One byte more than may be read tells a body of just that length.
	rest, err := io.Copy(io.Discard, io.LimitReader(body, max(0, c.maxReplyBytes-n)))
	return kept.Bytes(), rest > 0 || n == c.maxReplyBytes, err
}

// IsHTTP says whether a URL's scheme is http or https.
func IsHTTP(u *url.URL) bool { return u.Scheme == "http" || u.Scheme == "https" }
