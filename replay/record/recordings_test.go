package record

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	historypb "go.temporal.io/api/history/v1"
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
	return slices.Concat(replay.States(), replay.BatchStates(), replay.ReconcilerStates(), replay.EntityStates(), replay.RewalkStates(), replay.ClusterStates(), replay.PlaybookStates())
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

// saveRun records a run of an action.
func (r *recordings) saveRun(t *testing.T, i *installation, id, run, name string) {
	t.Helper()
	state := stateOf(t, name)
	h := i.history(t, id, run)
	require.NoError(t, state.Check(h))
	r.keep(t, state, h)
}

// comes records what depends on a timer, brought to its state by bring. On a slow machine
// a task that comes for another reason may see that the time has passed before the timer's
// own task does: that is right, but another recording. So bring is given another id then,
// and twice the time. It returns an error where the time was too short for it.
func (r *recordings) comes(t *testing.T, i *installation, name string, bring func(t *testing.T, id string, soon time.Duration) error) {
	t.Helper()
	state := stateOf(t, name)
	id, soon := name, i.soon(t)
	for n := 2; ; n++ {
		err := bring(t, id, soon)
		if err == nil {
			h := i.history(t, id, i.run(t, id))
			if err = state.Check(h); err == nil {
				r.keep(t, state, h)
				return
			}
		}
		require.Less(t, soon, within/4, "%s: %v", name, err)
		t.Logf("again, with twice the time: %v", err)
		id, soon = fmt.Sprintf("%s-%d", name, n), 2*soon
	}
}

// ends is comes for what has ended.
func (r *recordings) ends(t *testing.T, i *installation, name string, begin func(t *testing.T, id string, soon time.Duration) error) {
	t.Helper()
	r.comes(t, i, name, func(t *testing.T, id string, soon time.Duration) error {
		t.Helper()
		if err := begin(t, id, soon); err != nil {
			return err
		}
		i.closes(t, id)
		return nil
	})
}

// stateOf is the state that a recording is of.
func stateOf(t *testing.T, name string) replay.State {
	t.Helper()
	known := slices.IndexFunc(states(), func(s replay.State) bool { return s.Name == name })
	require.NotEqual(t, -1, known, "%s is not among the states of package replay", name)
	return states()[known]
}

// keep keeps a history, after a replay by the workflows that made it.
func (r *recordings) keep(t *testing.T, state replay.State, h *historypb.History) {
	t.Helper()
	replay.Scrub(h)
	require.NoError(t, replay.Run(h), state.Name)
	host, err := os.Hostname()
	require.NoError(t, err)
	text := prototext.Format(h)
	for _, where := range []string{"@" + host, host + ":", host + "/"} {
		require.NotContains(t, text, where, state.Name)
	}
	require.NoError(t, replay.Save(filepath.Join(r.dir, state.Path()), h))
	r.mu.Lock()
	defer r.mu.Unlock()
	r.names = append(r.names, state.Name)
}
