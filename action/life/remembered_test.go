package life_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gnomon/action/life"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
)

// issue 2, request_id: an update that asks for something else under an id that was
// used before is refused, the same one again is the same, and one that does not say
// what it asks for is taken at its word.
func TestReusedIDOfAnUpdate(t *testing.T) {
	t.Parallel()
	s := state(once(nil))
	first := &workflowv1.Command{Id: "r-1", Digest: "one", Action: wanted(once(nil), "guid-2")}
	require.False(t, command(t, s, workflowv1.CommandUpdate, first, accepted).Repeated)
	for digest, reused := range map[string]bool{"one": false, "": false, "other": true} {
		again := &workflowv1.Command{Id: "r-1", Digest: digest, Action: wanted(once(nil), "guid-3")}
		effect, err := life.Apply(s, workflowv1.CommandUpdate, again, accepted, "guid-4")
		if reused {
			require.ErrorIs(t, err, life.ErrReused)
			require.ErrorIs(t, life.Check(s, workflowv1.CommandUpdate, again, accepted), life.ErrReused)
		} else {
			require.NoError(t, err)
			require.True(t, effect.Repeated)
		}
		require.Equal(t, "guid-2", s.GetMeta().GetGuid())
	}
}

// M-61: each change that has to be stored gets a place after all that came before.
func TestEveryChangeHasAPlaceOfItsOwn(t *testing.T) {
	t.Parallel()
	s := state(periodic(time.Minute, nil))
	before := s.GetSequence()
	for _, name := range []string{
		workflowv1.CommandPause, workflowv1.CommandResume, workflowv1.SignalMirror,
		workflowv1.CommandPause, workflowv1.CommandUpdate, workflowv1.CommandCancel,
	} {
		command(t, s, name, &workflowv1.Command{Action: wanted(periodic(time.Minute, nil), "guid-2")}, accepted)
		require.Greater(t, s.GetSequence(), before, name)
		require.True(t, s.GetMirrorOwed(), name)
		before = s.GetSequence()
	}
}
