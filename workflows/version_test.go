package workflows_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"gnomon/action/life"
)

// An older worker must not decide by rules it does not know: its task fails, and a
// newer one takes the run up.
func TestNewerRules(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := state(once(nil))
	s.Version = life.Version + 1
	require.ErrorContains(t, w.run(s), "rules of version")
	require.Empty(t, w.acted())
}
