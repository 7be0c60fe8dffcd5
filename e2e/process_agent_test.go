package e2e

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gnomon/cli"
)

// Issue 6: the command `gnomon agent` at a Temporal that is down when it starts. It lives,
// polls within moments of Temporal's return, registers its node and performs; SIGTERM
// ends it with exit code 0 and takes what was not begun to the next agent.
func TestProcessAgentWithoutTemporal(t *testing.T) {
	t.Parallel()
	p := separate(t)
	p.work(t)
	p.temporal.kill(t)
	dir := filepath.Join(p.dir, "agent")
	begin := func() *process {
		agent := run(t, "agent", "--cluster", "c", "--node", "n", "--temporal-address", p.address, "--data-dir", dir,
			"--metrics-address", "127.0.0.1:0", "--allow-exec", "/bin/sh -c **")
		agent.says(t, agent.err, "The agent runs.")
		return agent
	}
	agent := begin()
	agent.says(t, agent.err, "the agent goes on without")
	p.again(t)
	at := []string{"--address", p.grpc, "--timeout", "30s"}
	require.Eventually(t, func() bool {
		_, _, code := gnomon(t, append(at, "node", "run", "n", "--cluster", "c", "--id", "first", "--request-id", "1", "--", "/bin/sh", "-c", "echo hello")...)
		return code == cli.ExitOK
	}, time.Minute, 100*time.Millisecond, "until the facade has Temporal again, and the node is known")
	out, people, code := gnomon(t, append(at, "node", "watch", "first", "--cluster", "c")...)
	require.Zero(t, code, out+people)
	require.Contains(t, out, "DONE node=n code=0\nhello\n")

	agent.stop(t, 15*time.Second)
	_, people, code = gnomon(t, append(at, "node", "run", "n", "--cluster", "c", "--id", "second", "--", "/bin/sh", "-c", "echo again")...)
	require.Zero(t, code, people)
	begin()
	out, people, code = gnomon(t, append(at, "node", "watch", "second", "--cluster", "c")...)
	require.Zero(t, code, out+people)
	require.Contains(t, out, "DONE node=n code=0\nagain\n")
}
