package starter

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/serviceerror"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/playbook"
)

// A question that the workflow moved on under is asked again: it is neither the answer that
// there is no such action nor an error of the caller's.
func TestOutrunQuestions(t *testing.T) {
	t.Parallel()
	f := newNodeFacade(t)
	f.Clusters.ApplyTimeout = time.Minute
	f.temporal.result = &gnomonv1.NodeAction{Id: "a", State: gnomonv1.NodeAction_RUNNING}
	read := func() (*gnomonv1.NodeAction, error) {
		return f.GetNodeAction(t.Context(), &gnomonv1.GetNodeActionRequest{Cluster: "c", Id: "a", Fresh: true})
	}

	f.temporal.outruns = 2
	a, err := read()
	require.NoError(t, err)
	require.Equal(t, gnomonv1.NodeAction_RUNNING, a.GetState())
	require.Zero(t, f.temporal.outruns)

	f.temporal.outruns = 1000
	_, err = read()
	require.Error(t, err)
	require.NotEqual(t, nodeActionNotFound("c", "a").Error(), err.Error())
	require.Equal(t, 1000-1-askAgain, f.temporal.outruns, "but not for ever")

	f.temporal.outruns, f.temporal.err = 0, serviceerror.NewQueryFailed(playbook.ErrNotFound.Error())
	_, err = read()
	require.Equal(t, nodeActionNotFound("c", "a").Error(), err.Error(), "the workflow's own answer stands")
}
