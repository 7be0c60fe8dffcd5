package replay

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	historypb "go.temporal.io/api/history/v1"
)

// recordings are all that there are, of all versions, of the kinds that have these states.
func recordings(t *testing.T, kinds ...[]State) []string {
	t.Helper()
	var all []string
	for _, states := range kinds {
		some, err := filepath.Glob(filepath.Join(filepath.Dir(filepath.Dir(states[0].Path())), "v*", "*"+Extension))
		require.NoError(t, err)
		require.GreaterOrEqual(t, len(some), len(states))
		all = append(all, some...)
	}
	return all
}

func load(t *testing.T, path string) *historypb.History {
	t.Helper()
	h, err := Load(path)
	require.NoError(t, err)
	return h
}

// requireRecorded holds that the present version has a recording of every state, each of
// its state, and no other. It returns how those end.
func requireRecorded(t *testing.T, states []State) (ends map[string]bool) {
	t.Helper()
	var names []string
	ends = map[string]bool{}
	for _, s := range states {
		require.NotContains(t, names, s.Name, "named twice")
		names = append(names, s.Name)
		ends[s.End] = true
		require.NoError(t, s.Check(load(t, s.Path())))
	}
	present, err := filepath.Glob(filepath.Join(filepath.Dir(states[0].Path()), "*"+Extension))
	require.NoError(t, err)
	for _, path := range present {
		require.Contains(t, names, strings.TrimSuffix(filepath.Base(path), Extension), "nobody records it any more")
	}
	return ends
}
