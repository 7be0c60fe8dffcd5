package outbound

import (
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"
)

// What counts as the same host, which alone is told the headers.
func TestLeaves(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		from, to string
		want     bool
	}{
		{"http://a.test/x", "http://a.test/y", false},
		{"http://a.test", "http://A.TEST:80", false},
		{"https://a.test:443", "https://a.test", false},
		{"https://a.test:8443", "https://a.test:8443", false},
		{"http://a.test", "https://a.test", false},
		{"http://a.test:80", "https://a.test:443", false},
		{"http://a.test:8080", "https://a.test", true},
		{"http://a.test", "https://a.test:8443", true},
		{"https://a.test", "http://a.test", true},
		{"https://a.test:80", "http://a.test:443", true},
		{"http://a.test", "http://b.test", true},
		{"http://a.test", "http://www.a.test", true},
		{"http://www.a.test", "http://a.test", true},
		{"http://a.test", "http://a.test:8080", true},
		{"https://a.test:8443", "https://a.test", true},
		{"http://127.0.0.1:1", "http://127.0.0.1:2", true},
	} {
		from, err := url.Parse(c.from)
		require.NoError(t, err)
		to, err := url.Parse(c.to)
		require.NoError(t, err)
		require.Equal(t, c.want, leaves(from, to), "%s to %s", c.from, c.to)
	}
}
