package agent

import (
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// whether a node is UP is what its configured command or URL says, within its time.
func TestHealth(t *testing.T) {
	t.Parallel()
	var code atomic.Int32
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if code.Load() == 0 {
			<-r.Context().Done()
			return
		}
		w.WriteHeader(int(code.Load()))
	}))
	defer service.Close()
	look := func(c HealthConfig) (bool, string) {
		c.Timeout = 5 * time.Second
		if code.Load() == 0 {
			c.Timeout = 50 * time.Millisecond
		}
		up, why, _ := (&health{config: c.withDefaults(), meter: unmeasured{}}).Look(t.Context())
		require.Equal(t, up, why == "")
		return up, why
	}
	url := HealthConfig{URL: service.URL}
	for status, want := range map[int32]bool{200: true, 204: true, 299: true, 404: false, 500: false, 503: false} {
		code.Store(status)
		up, why := look(url)
		require.Equal(t, want, up, why)
	}
	code.Store(0)
	_, why := look(url)
	require.Equal(t, "the health URL does not answer", why)
	up, _ := look(HealthConfig{Command: []string{"/bin/sleep", "1000"}})
	require.False(t, up, "in time")

	code.Store(200)
	up, _ = look(HealthConfig{Command: []string{"/bin/true"}})
	require.True(t, up)
	_, why = look(HealthConfig{Command: []string{"/bin/false"}})
	require.Equal(t, "the health command says: exit status 1", why)
	up, _ = look(HealthConfig{})
	require.True(t, up, "with neither")
}

// An answer is given again only while it is young.
func TestHealthIsRemembered(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	service := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	defer service.Close()
	h := &health{config: HealthConfig{URL: service.URL, MaxAge: time.Hour}.withDefaults(), meter: unmeasured{}}
	for range 3 {
		up, _, _ := h.Look(t.Context())
		require.True(t, up)
	}
	require.EqualValues(t, 1, asked.Load())
	h.config.MaxAge = time.Nanosecond
	h.Look(t.Context())
	require.EqualValues(t, 2, asked.Load())
}
