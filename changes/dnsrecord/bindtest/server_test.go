package bindtest_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"gnomon/changes/dnsrecord/bindtest"
)

// The harness itself: updates are seen, counted by the serial, journalled, and
// survive the server.
func TestServer(t *testing.T) {
	t.Parallel()
	s := bindtest.Start(t, bindtest.Options{Zones: map[string]string{"example.test": "www A 192.0.2.1"}})
	require.Equal(t, uint32(1), s.Serial(t, "example.test"))
	require.Equal(t, []string{"300 A 192.0.2.1"}, s.Lookup(t, "www.example.test", "A"))

	s.NSUpdate(t, "update add new.example.test. 60 TXT \"a b\"", "update del www.example.test. A")
	require.Equal(t, uint32(2), s.Serial(t, "example.test"))
	require.Empty(t, s.Lookup(t, "www.example.test", "A"))

	s.Kill()
	s.Start(t)
	require.Equal(t, []string{`60 TXT "a b"`}, s.Lookup(t, "new.example.test", "TXT"))
	require.ElementsMatch(t, []string{
		`add new.example.test. 60 IN TXT "a b"`, "del www.example.test. 300 IN A 192.0.2.1",
	}, s.Journal(t, "example.test"))
}
