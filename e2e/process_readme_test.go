package e2e

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/cli"
)

// gnomon runs the command `gnomon` and gives what it wrote and its exit code.
func gnomon(t *testing.T, args ...string) (out, people string, code int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var stdout, stderr bytes.Buffer
	root := cli.New("e2e")
	root.SetOut(&stdout)
	root.SetErr(&stderr)
	root.SetArgs(args)
	code = cli.Run(ctx, root)
	return stdout.String(), stderr.String(), code
}

// Issue 2, 'It is done when': what gnomon-dev tells a person to type schedules an
// action, its receiver shows it arriving, and the other verbs tell of it.
func TestProcessReadme(t *testing.T) {
	t.Parallel()
	dev, at := runDev(t, "--ephemeral")
	told := dev.says(t, dev.err, "gnomon action create hello")
	require.Contains(t, told, "--address "+at.GRPC)
	require.Contains(t, told, "--url http://"+at.Receiver+"/hello")

	said := func(args ...string) string {
		out, people, code := gnomon(t, append([]string{"--address", at.GRPC}, args...)...)
		require.Zero(t, code, "gnomon %v: %s%s", args, out, people)
		return out
	}
	began := time.Now()
	said("action", "create", "hello", "--in", "2s", "--url", "http://"+at.Receiver+"/hello", "--body", `{"hello":"world"}`)
	require.Contains(t, said("action", "list"), "hello")
	watched := said("action", "watch", "hello")
	require.GreaterOrEqual(t, time.Since(began), 2*time.Second, "watch follows it to its end")
	require.Contains(t, watched, "SUCCEEDED")
	shown := dev.says(t, dev.err, "POST /hello")
	require.Contains(t, shown, "action=hello")
	require.Contains(t, shown, `{"hello":"world"}`)

	a := &gnomonv1.ScheduledAction{}
	require.NoError(t, protojson.Unmarshal([]byte(said("action", "get", "hello", "-o", "json")), a))
	require.Equal(t, gnomonv1.Status_SUCCEEDED, a.GetStatus().GetState())
	require.Equal(t, counts{ok: 1}, counted(a.GetStatus()))

	said("action", "create", "later", "--in", "1h", "--url", "http://"+at.Receiver+"/later")
	list := said("action", "list")
	require.Contains(t, list, "later")
	require.NotContains(t, list, "hello", "the living only")
	said("action", "delete", "later")
	require.NotContains(t, said("action", "list"), "later")
	_, people, code := gnomon(t, "--address", at.GRPC, "action", "get", "later")
	require.Equal(t, cli.ExitFailed, code)
	require.Contains(t, people, "later")
	require.Equal(t, 1, strings.Count(dev.err.Text(), "POST /hello"))
}
