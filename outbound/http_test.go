package outbound_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"gnomon/outbound"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func do(t *testing.T, url string, how outbound.Call) (outbound.Reply, error) {
	t.Helper()
	c := outbound.NewClient(outbound.HTTPConfig{MaxReplyBytes: 1 << 10})
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader("hello"))
	require.NoError(t, err)
	how.Limit = time.Minute
	return c.Do(req, how)
}

// The reply says whether its body is all there was.
func TestDoKeepsWhatIsAskedFor(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, strings.Repeat("x", len(r.URL.Path)-1))
	}))
	t.Cleanup(s.Close)
	for _, c := range []struct {
		sent, keep, kept int
		more             bool
	}{
		{sent: 0, keep: 100, kept: 0},
		{sent: 10, keep: 100, kept: 10},
		{sent: 100, keep: 100, kept: 100},
		{sent: 101, keep: 100, kept: 100, more: true},
		{sent: 1023, keep: 5000, kept: 1023},
		{sent: 2000, keep: 5000, kept: 1024, more: true},
	} {
		reply, err := do(t, s.URL+"/"+strings.Repeat("p", c.sent), outbound.Call{Keep: int64(c.keep)})
		require.NoError(t, err)
		require.NoError(t, reply.Broken)
		require.Len(t, reply.Body, c.kept)
		require.Equal(t, c.more, reply.More, "%+v", c)
		require.Equal(t, "POST "+s.URL, reply.Place)
	}
}

// A redirect that is not followed is the reply.
func TestDoFollowsNoRedirects(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.RedirectHandler("/elsewhere", http.StatusTemporaryRedirect))
	t.Cleanup(s.Close)
	reply, err := do(t, s.URL, outbound.Call{Redirects: outbound.NoRedirects})
	require.NoError(t, err)
	require.Equal(t, http.StatusTemporaryRedirect, reply.Status)
}
