package performers_test

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// hops redirects /N to /N-1 and so on to /0, which answers.
func hops(w http.ResponseWriter, r *http.Request) {
	n, _ := strconv.Atoi(r.URL.Path[1:])
	if n == 0 {
		_, _ = io.WriteString(w, "arrived")
		return
	}
	http.Redirect(w, r, fmt.Sprint("/", n-1), http.StatusTemporaryRedirect)
}

// At most ten redirects.
func TestHTTPFollowsTenRedirects(t *testing.T) {
	t.Parallel()
	s := serve(t, hops)
	reply, err := performHTTP(t.Context(), t, &gnomonv1.HttpRequest{Url: s.URL + "/10"})
	require.NoError(t, err)
	require.Equal(t, "arrived", reply.Text)

	_, err = performHTTP(t.Context(), t, &gnomonv1.HttpRequest{Url: s.URL + "/11"})
	require.EqualError(t, err, "POST "+s.URL+": stopped after 10 redirects")
}

// Redirects lead to http and https and nowhere else.
func TestHTTPFollowsNoOtherScheme(t *testing.T) {
	t.Parallel()
	for _, to := range []string{"file:///etc/passwd", "ftp://host/secret", "gopher://host/?secret", "javascript:secret"} {
		s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", to)
			w.WriteHeader(http.StatusFound)
		})
		_, err := performHTTP(t.Context(), t, &gnomonv1.HttpRequest{Url: s.URL})
		scheme, _, _ := strings.Cut(to, ":")
		require.EqualError(t, err, fmt.Sprintf("POST %s: redirected to a URL of the scheme %q, only http and https are followed", s.URL, scheme))
	}
}

// seen is what a request came with, apart from what the connection needs.
func seen(r *http.Request) http.Header {
	h := r.Header.Clone()
	for _, name := range []string{"Accept-Encoding", "Content-Length"} {
		h.Del(name)
	}
	return h
}

// Headers stay on the host that the spec names: no key of gnomon's, no credentials
// of the user's, no Referer with the query reach another one, and none comes back
// by a detour. A body goes where 307 sends it.
func TestHTTPRedirectKeepsHeadersOnTheSameHostOnly(t *testing.T) {
	t.Parallel()
	type visit struct {
		header http.Header
		body   string
	}
	visits := make(chan visit, 4)
	record := func(r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		visits <- visit{seen(r), string(b)}
	}
	var back string
	other := serve(t, func(w http.ResponseWriter, r *http.Request) {
		record(r)
		http.Redirect(w, r, back, http.StatusTemporaryRedirect)
	})
	first := serve(t, func(w http.ResponseWriter, r *http.Request) {
		record(r)
		switch r.URL.Path {
		case "/start":
			http.Redirect(w, r, "/here?token=secret", http.StatusTemporaryRedirect)
		case "/here":
			http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
		}
	})
	back = first.URL + "/back"

	_, err := performHTTP(t.Context(), t, &gnomonv1.HttpRequest{
		Url:     first.URL + "/start?token=secret",
		Headers: map[string]string{"Authorization": "Bearer secret", "X-Api-Key": "secret", "Content-Type": "text/plain"},
		Body:    []byte("hello"),
	})
	require.NoError(t, err)

	start, here, away, home := <-visits, <-visits, <-visits, <-visits
	require.Equal(t, "Bearer secret", start.header.Get("Authorization"))
	require.Equal(t, "order:42", start.header.Get("Gnomon-Action-Id"))
	require.Equal(t, start, here)
	plain := http.Header{"Content-Type": {"text/plain"}, "User-Agent": {"gnomon"}}
	require.Equal(t, visit{plain, "hello"}, away)
	require.Equal(t, visit{plain, "hello"}, home)
}

// As everywhere: 303 makes a GET without a body of it, 307 does not.
func TestHTTPRedirectMethods(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]string{
		301: "GET ", 302: "GET ", 303: "GET ", 307: "POST hello", 308: "POST hello",
	} {
		s := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/" {
				http.Redirect(w, r, "/there", status)
				return
			}
			b, _ := io.ReadAll(r.Body)
			_, _ = fmt.Fprint(w, r.Method, " ", string(b))
		})
		reply, err := performHTTP(t.Context(), t, &gnomonv1.HttpRequest{Url: s.URL, Body: []byte("hello")})
		require.NoError(t, err)
		require.Equal(t, want, reply.Text)
	}
}

// HttpRequest.accepted_status: a redirect that the spec accepts is the reply.
func TestHTTPAcceptedRedirectIsNotFollowed(t *testing.T) {
	t.Parallel()
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			t.Error("was followed")
		}
		http.Redirect(w, r, "/there", http.StatusFound)
	})
	_, err := performHTTP(t.Context(), t, &gnomonv1.HttpRequest{
		Url: s.URL, AcceptedStatus: []*gnomonv1.HttpRequest_StatusRange{{First: 302}},
	})
	require.NoError(t, err)
}

// A redirect that says not where to is an answer like any other.
func TestHTTPRedirectWithoutLocation(t *testing.T) {
	t.Parallel()
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusFound) })
	_, err := performHTTP(t.Context(), t, &gnomonv1.HttpRequest{Url: s.URL})
	require.EqualError(t, err, "POST "+s.URL+" answered with status 302 Found")
}
