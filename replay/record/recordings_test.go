package record

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/prototext"

	"gnomon/replay"
)

// recordings are where the histories go, and which there are.
type recordings struct {
	dir string

	mu    sync.Mutex
	names []string
}

// made are the recordings of this run.
var made recordings

// prepare makes the directory, this repository's or one that finish removes.
func (r *recordings) prepare(keep bool) (err error) {
	r.dir = ".."
	if !keep {
		if r.dir, err = os.MkdirTemp("", "gnomon-record-"); err != nil {
			return err
		}
	}
	for _, s := range states() {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(r.dir, s.Path())), 0o755); err != nil {
			return err
		}
	}
	return nil
}

// states are all that have a recording.
func states() []replay.State {
	return slices.Concat(replay.States(), replay.BatchStates(), replay.ReconcilerStates())
}

// finish says which states no test has recorded.
func (r *recordings) finish(keep bool) error {
	if !keep {
		if err := os.RemoveAll(r.dir); err != nil {
			return err
		}
	}
	for _, s := range states() {
		if !slices.Contains(r.names, s.Name) {
			return fmt.Errorf("no test records %s", s.Name)
		}
	}
	return nil
}

// save records the newest run of actions that are called like their recordings.
func (r *recordings) save(t *testing.T, i *installation, names ...string) {
	t.Helper()
	for _, name := range names {
		r.saveRun(t, i, name, i.run(t, name), name)
	}
}

// saveRun records a run of an action, after a replay by the workflows that made it.
func (r *recordings) saveRun(t *testing.T, i *installation, id, run, name string) {
	t.Helper()
	known := slices.IndexFunc(states(), func(s replay.State) bool { return s.Name == name })
	require.NotEqual(t, -1, known, "%s is not among the states of package replay", name)
	state := states()[known]
	h := i.history(t, id, run)
	replay.Scrub(h)
	require.NoError(t, state.Check(h))
	require.NoError(t, replay.Run(h), name)
	host, err := os.Hostname()
	require.NoError(t, err)
	text := prototext.Format(h)
	for _, where := range []string{"@" + host, host + ":", host + "/"} {
		require.NotContains(t, text, where, name)
	}
	require.NoError(t, replay.Save(filepath.Join(r.dir, state.Path()), h))
	r.mu.Lock()
	defer r.mu.Unlock()
	r.names = append(r.names, name)
}
