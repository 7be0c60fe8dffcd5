package life_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"gnomon/action/life"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
)

// F22: a signal that names what an update cannot replace changes nothing, not even
// the Guid.
func TestUpdateOfAnUnknownPathIsMalformed(t *testing.T) {
	t.Parallel()
	s := state(once(nil))
	guid := s.GetMeta().GetGuid()
	for _, path := range []string{"status", "meta", "meta.id", "Spec", ""} {
		_, err := life.Apply(s, workflowv1.CommandUpdate, &workflowv1.Command{Paths: []string{"meta.labels", path}}, accepted, "new")
		require.ErrorIs(t, err, life.ErrMalformed, path)
	}
	require.Equal(t, guid, s.GetMeta().GetGuid())
	_, err := life.Apply(s, workflowv1.CommandUpdate, &workflowv1.Command{Paths: []string{"meta.labels", "spec"}, Action: wanted(once(nil), "g")}, accepted, "new")
	require.NoError(t, err)
}
