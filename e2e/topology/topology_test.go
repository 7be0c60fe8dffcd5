package topology

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gnomon/faults/postgres"
	"gnomon/faults/record"
	"gnomon/faults/roles"
	"gnomon/faults/scenarios"
)

func TestMain(m *testing.M) {
	if roles.Asked() {
		os.Exit(roles.Play())
	}
	os.Exit(m.Run())
}

// tolerance is for a machine that does other things too: here it is the promises.
const tolerance = 10 * time.Second

// Issue 4: two starters, two workers, Temporal on PostgreSQL and YDB's double perform
// 1,000 actions while one of each is killed and started again. The judge of the fault
// tests holds the promises of docs/guarantees.md.
func TestTopology(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it takes a minute")
	}
	if !postgres.Available() {
		if os.Getenv("CI") != "" {
			t.Fatal(postgres.ErrMissing)
		}
		t.Skip(postgres.ErrMissing)
	}
	dir, s := t.TempDir(), scenarios.Topology()
	v, err := scenarios.Run(t.Context(), s, scenarios.Scale{Tolerance: tolerance}, dir, t.Logf)
	require.NoError(t, err)
	for _, f := range v.Figures {
		t.Logf("%s: %s", f.Name, f.Value)
	}
	require.Empty(t, v.Broken)
	require.Zero(t, v.BrokenCount)
	require.Equal(t, 5, v.Injections[s.Faults[0]])

	// Counted once more, without the judge.
	calls, err := record.Read[record.Call](filepath.Join(dir, s.Name), record.CallsFile)
	require.NoError(t, err)
	visits, err := record.Read[record.Visit](filepath.Join(dir, s.Name), record.VisitsFile)
	require.NoError(t, err)
	performed := map[string]bool{}
	for _, visit := range visits {
		performed[visit.GUID] = performed[visit.GUID] || visit.Status == 200
	}
	require.Len(t, calls, scenarios.TopologyActions)
	for _, c := range calls {
		require.Equal(t, "OK", c.Code, c.ID)
		require.True(t, performed[c.GUID], "%s was not performed", c.ID)
	}
}
