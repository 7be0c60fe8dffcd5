package outbound

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// maxRedirects is how many redirects an attempt follows; browsers allow 20.
const maxRedirects = 10

// redirectError is a redirect that is not followed. Its text names no more of the
// target than its host.
type redirectError struct{ text string }

func (e redirectError) Error() string { return e.text }

// errManyRedirects ends a chain of redirects.
var errManyRedirects = redirectError{fmt.Sprintf("stopped after %d redirects", maxRedirects)}

// passedOn are the headers that another host is told too: they describe the
// request and identify nobody.
var passedOn = []string{"Accept", "Accept-Language", "Content-Encoding", "Content-Language", "Content-Type", "User-Agent"}

// RedirectRule is called before a redirect is followed, as http.Client.CheckRedirect.
type RedirectRule func(next *http.Request, via []*http.Request) error

// NoRedirects takes a redirect for the reply.
func NoRedirects(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// FollowRedirects follows up to 10 redirects, over http and https, but not one whose
// status is taken for the reply. As everywhere, 301, 302 and 303 turn a POST into a
// GET, and 307 and 308 send the body on. Once a redirect leaves the first host, or
// https, all headers but passedOn stay behind, gnomon's included.
func FollowRedirects(taken func(status int) bool) RedirectRule {
	return func(next *http.Request, via []*http.Request) error {
		if taken(next.Response.StatusCode) {
			return http.ErrUseLastResponse
		}
		if len(via) > maxRedirects {
			return errManyRedirects
		}
		if !IsHTTP(next.URL) {
			return redirectError{fmt.Sprintf("redirected to a URL of the scheme %.20q, only http and https are followed", next.URL.Scheme)}
		}
		// The Referer would carry the query of the URL before.
		next.Header.Del("Referer")
		// net/http starts from the first request's headers at every hop, so every
		// hop so far has to be looked at.
		here := append(slices.Clone(via[1:]), next)
		if slices.ContainsFunc(here, func(r *http.Request) bool { return leaves(via[0].URL, r.URL) }) {
			for name := range next.Header {
				if !slices.Contains(passedOn, name) {
					delete(next.Header, name)
				}
			}
		}
		return nil
	}
}

// leaves says whether going from one URL to the other changes the host, where a
// port makes another host, or gives up https. http on port 80 to https on port 443
// of the same name stays.
func leaves(from, to *url.URL) bool {
	if !strings.EqualFold(from.Hostname(), to.Hostname()) {
		return true
	}
	if from.Scheme == to.Scheme {
		return port(from) != port(to)
	}
	return to.Scheme != "https" || port(from) != "80" || port(to) != "443"
}

func port(u *url.URL) string {
	switch {
	case u.Port() != "":
		return u.Port()
	case u.Scheme == "https":
		return "443"
	default:
		return "80"
	}
}
