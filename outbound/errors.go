package outbound

import (
	"errors"
	"fmt"
	"net/http"
	"net/textproto"
	"net/url"
	"regexp"
)

// quoted is what net/http puts in quotes: parts of URLs and of what the other side
// wrote, which may hold secrets.
var quoted = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)

// place says where a request goes, without path and query: paths too are secrets
// at times, those of chat webhooks for one.
func place(req *http.Request) string {
	return fmt.Sprintf("%s %s://%s", req.Method, req.URL.Scheme, req.URL.Host)
}

// httpError is the failure of a request that got no reply, without the URL and the
// quotes that errors of net/http carry. The error is not wrapped, since whoever
// prints it would print those again.
func httpError(at string, err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	if r, ok := errors.AsType[redirectError](err); ok {
		return fmt.Errorf("%s: %w", at, r)
	}
	if _, ok := errors.AsType[textproto.ProtocolError](err); ok {
		return fmt.Errorf("%s: the reply's header is malformed", at)
	}
	return fmt.Errorf("%s: %s", at, quoted.ReplaceAllString(err.Error(), `"..."`))
}
