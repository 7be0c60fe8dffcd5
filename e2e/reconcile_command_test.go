package e2e

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"gnomon/cli"
	"gnomon/reconcile"
	"gnomon/serve"
)

// gnomon runs a command of the binary here.
func (r *reconciled) gnomon(t *testing.T, args ...string) (code int, out, problems string) {
	t.Helper()
	root := cli.New("e2e")
	root.AddCommand(serve.Reconcile(), serve.Migrate())
	var stdout, stderr bytes.Buffer
	root.SetOut(&stdout)
	root.SetErr(&stderr)
	root.SetArgs(args)
	code = cli.Run(t.Context(), root)
	return code, stdout.String(), stderr.String()
}

// Issue 4, 5: gnomon reconcile shows what it would do, does it, and says by its exit
// code whether all is well.
func TestReconcileCommand(t *testing.T) {
	t.Parallel()
	onBothStores(t, func(t *testing.T, r *reconciled) {
		t.Helper()
		id := r.id("a")
		r.sleeps(t, "a")
		args := func(more ...string) []string {
			return append([]string{
				"reconcile", "--temporal-address", temporal.Address(), "--task-queue", r.queue, "--store", r.name, "--grace", "1ns",
			}, more...)
		}
		code, out, problems := r.gnomon(t, args()...)
		require.Equal(t, cli.ExitOK, code, problems)
		require.Equal(t, "1 open workflows and 1 living rows compared: nothing wrong.\n", out)

		r.remove(t, id)
		code, out, problems = r.gnomon(t, args("--dry-run")...)
		require.Equal(t, cli.ExitFailed, code)
		require.Contains(t, out, "missing      "+id+"  would be repaired: the workflow is open and there is no row")
		require.Contains(t, problems, "run without --dry-run to repair them")
		require.Nil(t, r.row(t, id))

		code, out, problems = r.gnomon(t, args("-o", "json")...)
		require.Equal(t, cli.ExitOK, code, problems)
		var report reconcile.Report
		require.NoError(t, json.Unmarshal([]byte(out), &report))
		require.EqualValues(t, 1, report.Repaired[reconcile.Missing])
		r.shows(t, id)
		code, out, _ = r.gnomon(t, args("-o", "yaml")...)
		require.Equal(t, cli.ExitOK, code)
		require.Contains(t, out, "workflows: 1")

		r.rest()
		code, _, problems = r.gnomon(t, args()...)
		require.Equal(t, cli.ExitFailed, code)
		require.Contains(t, problems, "does a worker run")

		code, _, problems = r.gnomon(t, args("--rate", "-1")...)
		require.Equal(t, cli.ExitFailed, code)
		require.Contains(t, problems, "Rate is -1 and must be above 0")
		code, _, problems = r.gnomon(t, args("--store", r.name+".none")...)
		require.Equal(t, cli.ExitFailed, code)
		require.Contains(t, problems, "run: gnomon migrate --store ")
		require.Contains(t, problems, r.name+".none")
	})
}

// Issue 4, 4: gnomon migrate says from which version to which.
func TestMigrateCommand(t *testing.T) {
	t.Parallel()
	r := &reconciled{}
	name := "sqlite:" + t.TempDir() + "/gnomon.db"
	for _, step := range []struct {
		args []string
		want string
	}{
		{[]string{"migrate", "--store", name, "--dry-run"}, "The schema would be migrated from version 0 to 5.\n"},
		{[]string{"migrate", "--store", name}, "The schema was migrated from version 0 to 5.\n"},
		{[]string{"migrate", "--store", name}, "The schema is up to date: version 5.\n"},
	} {
		code, out, problems := r.gnomon(t, step.args...)
		require.Equal(t, cli.ExitOK, code, problems)
		require.Equal(t, step.want, out)
	}
	code, _, problems := r.gnomon(t, "migrate", "--store", "nothing")
	require.Equal(t, cli.ExitFailed, code)
	require.Contains(t, problems, `store is "nothing" and must be sqlite:PATH`)
}
