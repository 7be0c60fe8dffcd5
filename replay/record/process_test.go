package record

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// doomed is a worker in a process of its own, to be killed.
type doomed struct{ cmd *exec.Cmd }

// workElsewhere starts a worker process.
func (i *installation) workElsewhere(t *testing.T, flags ...string) *doomed {
	t.Helper()
	i.heartbeat = lostHeartbeat
	program, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(program, append([]string{
		"--temporal-address", temporal.Address(), "--task-queue", i.queue, "--store", "sqlite:" + i.rows,
		"--heartbeat-timeout", lostHeartbeat.String(), "--allow-mock-actions", "--pollers", "2", "--log-level", "error",
		"--isolate-performers=false", // this binary is no gnomon
	}, flags...)...)
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "GNOMON_") && !strings.HasPrefix(v, "TEMPORAL_") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	cmd.Env = append(cmd.Env, roleVariable+"=worker")
	cmd.Stderr = os.Stderr
	// Held open for as long as this process lives.
	_, err = cmd.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	d := &doomed{cmd}
	t.Cleanup(d.kill)
	return d
}

// kill is kill -9.
func (d *doomed) kill() {
	if d.cmd.ProcessState == nil {
		_ = d.cmd.Process.Kill()
		_ = d.cmd.Wait()
	}
}
