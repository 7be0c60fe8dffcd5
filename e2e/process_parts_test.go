package e2e

import (
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// parts is an installation of separate processes over one Temporal on a file.
type parts struct {
	temporal, starter *process
	// address is Temporal's, at which facades and workers find it.
	address, grpc string
	dir           string
	client        gnomonv1.ActionServiceClient
	inbox         inbox
}

// separate starts Temporal and a facade. Workers come by work.
func separate(t *testing.T) *parts {
	t.Helper()
	p := &parts{dir: t.TempDir(), inbox: receive(t)}
	p.startTemporal(t, "0")
	p.startFacade(t, p.address, "127.0.0.1:0")
	p.client = connect(t, p.grpc)
	return p
}

// startTemporal starts Temporal on the file, at a port that is 0 the first time.
func (p *parts) startTemporal(t *testing.T, at string) {
	t.Helper()
	p.temporal = run(t, "temporal", "--dir", p.dir, "--port", at)
	p.address = p.temporal.says(t, p.temporal.out, "127.0.0.1:")
}

// again starts Temporal anew on its file and port.
func (p *parts) again(t *testing.T) { t.Helper(); p.startTemporal(t, port(t, p.address)) }

func (p *parts) store() string { return "sqlite:" + filepath.Join(p.dir, "gnomon.db") }

var servesAt = regexp.MustCompile(`The facade serves\..* grpc=(\S+)`)

// startFacade starts the facade against a Temporal, at an address whose port is 0
// the first time.
func (p *parts) startFacade(t *testing.T, temporal, at string) {
	t.Helper()
	p.starter = run(t, "starter", "--temporal-address", temporal, "--store", p.store(),
		"--grpc-address", at, "--http-address", "", "--log-format", "text")
	line := p.starter.says(t, p.starter.err, "The facade serves.")
	match := servesAt.FindStringSubmatch(line)
	require.NotNil(t, match, line)
	p.grpc = match[1]
}

// work starts a worker and waits until it polls.
func (p *parts) work(t *testing.T, flags ...string) *process {
	t.Helper()
	w := run(t, "worker", append([]string{"--temporal-address", p.address, "--store", p.store(), "--pollers", "4"}, flags...)...)
	w.says(t, w.err, "The worker polls.")
	return w
}
