package performers_test

import (
	"bufio"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	gnomonv1 "gnomon/api/gnomon/v1"

	"gnomon/activities/performers"
)

// answerRaw serves one connection after the other with these bytes, once a request's
// header is read.
func answerRaw(t *testing.T, reply string) (url string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	done := make(chan struct{})
	t.Cleanup(func() {
		require.NoError(t, l.Close())
		<-done
	})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			if r, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
				_, _ = io.Copy(io.Discard, r.Body)
			}
			_, _ = io.WriteString(c, reply)
			_ = c.Close()
		}
	}()
	return "http://" + l.Addr().String()
}

// Errors end up in Status and in Temporal's history, so no header value, query or
// payload, of either side, may be in them.
func TestHTTPErrorsHoldNoSecrets(t *testing.T) {
	t.Parallel()
	closed := httptest.NewServer(nil)
	closed.Close()
	tls := httptest.NewUnstartedServer(http.NotFoundHandler())
	tls.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	tls.StartTLS()
	t.Cleanup(tls.Close)
	for name, c := range map[string]struct{ url, text string }{
		"nobody there":         {closed.URL, "connection refused"},
		"unknown host":         {"http://gnomon.invalid", "lookup gnomon.invalid"},
		"untrusted TLS":        {tls.URL, "certificate"},
		"hung up":              {answerRaw(t, ""), "EOF"},
		"no HTTP":              {answerRaw(t, "secret\r\n\r\n"), "malformed HTTP response"},
		"no status":            {answerRaw(t, "HTTP/1.1 secret, secret\r\n\r\n"), "malformed HTTP status code"},
		"broken header":        {answerRaw(t, "HTTP/1.1 200 OK\r\nsecret, secret\r\n\r\n"), "the reply's header is malformed"},
		"broken location":      {answerRaw(t, "HTTP/1.1 302 Found\r\nLocation: http://h\"/\\\"%zz secret\r\n\r\n"), "failed to parse Location header"},
		"status with a reason": {answerRaw(t, "HTTP/1.1 500 secret, secret\r\n\r\n"), "status 500 Internal Server Error"},
		"unknown status":       {answerRaw(t, "HTTP/1.1 599 secret\r\n\r\n"), "answered with status 599"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := performHTTP(t.Context(), t, &gnomonv1.HttpRequest{
				Url:     c.url + "/secret/path?token=secret",
				Headers: map[string]string{"X-Token": "secret"},
				Body:    []byte("secret"),
			})
			require.ErrorContains(t, err, c.text)
			require.ErrorContains(t, err, "POST "+c.url)
			require.NotContains(t, err.Error(), "secret")
			require.False(t, performers.IsPermanent(err))
		})
	}
}

// A request that can never be sent is not worth a retry. The facade refuses these;
// what comes from another way in must not loop.
func TestHTTPRequestsThatCannotBeSent(t *testing.T) {
	t.Parallel()
	for _, spec := range []*gnomonv1.HttpRequest{
		{Url: ""},
		{Url: "/relative?secret"},
		{Url: "ftp://host/secret"},
		{Url: "http:///secret"},
		{Url: "http://[::1/secret"},
		{Url: "http://host", Method: "secret, secret"},
	} {
		_, err := performHTTP(t.Context(), t, spec)
		require.ErrorContains(t, err, "action.http_request")
		require.NotContains(t, err.Error(), "secret")
		require.True(t, performers.IsPermanent(err))
	}
}
