package e2e

import (
	"encoding/json"
	"net"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// devAddresses is the line that gnomon-dev prints.
type devAddresses struct {
	Temporal string `json:"temporal"`
	UI       string `json:"ui"`
	GRPC     string `json:"grpc"`
	HTTP     string `json:"http"`
	Receiver string `json:"receiver"`
	Metrics  string `json:"metrics"`
}

// freePorts leaves every port of gnomon-dev to the kernel.
var freePorts = []string{
	"--temporal-port", "0", "--ui-port", "0", "--grpc-port", "0", "--http-port", "0", "--receiver-port", "0",
	"--metrics-port", "0",
}

// runDev starts gnomon-dev on free ports and waits for its line.
func runDev(t *testing.T, flags ...string) (*process, devAddresses) {
	t.Helper()
	p := run(t, "dev", append(slices.Clip(freePorts), flags...)...)
	var at devAddresses
	require.NoError(t, json.Unmarshal([]byte(p.says(t, p.out, "{")), &at))
	return p, at
}

// Issue 2, 7: one line of JSON on stdout with six addresses that serve, all else on
// stderr; SIGINT ends it within 10 s with exit code 0; --ephemeral leaves no file.
func TestProcessDevSaysWhereItServes(t *testing.T) {
	t.Parallel()
	p, _ := runDev(t, "--ephemeral")
	raw := map[string]string{}
	require.NoError(t, json.Unmarshal([]byte(p.out.Text()), &raw))
	require.Len(t, raw, 6)
	seen := map[string]bool{}
	for _, name := range []string{"temporal", "ui", "grpc", "http", "receiver", "metrics"} {
		conn, err := net.DialTimeout("tcp", raw[name], 5*time.Second)
		require.NoError(t, err, name)
		require.NoError(t, conn.Close())
		require.False(t, seen[raw[name]], "%s has the address of another", name)
		seen[raw[name]] = true
	}
	p.says(t, p.err, "gnomon action create hello")

	began := time.Now()
	p.signal(t, syscall.SIGINT)
	require.Zero(t, p.exit(t, 10*time.Second), p.err.Tail(20))
	t.Logf("SIGINT to end: %s", time.Since(began).Round(time.Millisecond))
	require.Len(t, strings.Split(strings.TrimSpace(p.out.Text()), "\n"), 1, "one line on stdout")
	files, err := os.ReadDir(p.Dir())
	require.NoError(t, err)
	require.Empty(t, files, "--ephemeral leaves no file")
}

// Issue 2, 7: a port in use is named, and gnomon-dev gives up at once.
func TestProcessDevPortInUse(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, l.Close()) })
	taken := port(t, l.Addr().String())
	for _, flag := range []string{"--temporal-port", "--ui-port", "--grpc-port", "--http-port", "--receiver-port", "--metrics-port"} {
		t.Run(flag, func(t *testing.T) {
			t.Parallel()
			p := run(t, "dev", append(append([]string{"--ephemeral"}, freePorts...), flag, taken)...)
			began := time.Now()
			require.Equal(t, 1, p.exit(t, 20*time.Second))
			t.Logf("%s in use: exit after %s", flag, time.Since(began).Round(time.Millisecond))
			require.Contains(t, p.err.Text(), taken)
			require.Contains(t, p.err.Text(), "in use")
			require.Contains(t, p.err.Text(), flag)
			require.Empty(t, strings.TrimSpace(p.out.Text()), "nothing on stdout")
		})
	}
}
