package workflows_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	sdkpb "go.temporal.io/api/sdk/v1"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
)

// The current details follow the state without being asked for.
func TestCurrentDetailsFollowTheState(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	seen := func(at time.Time, want string) {
		w.at(at, func() {
			v, err := w.env.QueryWorkflow("__temporal_workflow_metadata")
			require.NoError(t, err)
			metadata := &sdkpb.WorkflowMetadata{}
			require.NoError(t, v.Get(metadata))
			require.Contains(t, metadata.GetCurrentDetails(), want)
		})
	}
	seen(accepted.Add(time.Second), "| State | SCHEDULED |")
	w.at(accepted.Add(2*time.Second), func() { w.update(workflowv1.CommandPause, &workflowv1.Command{}) })
	seen(accepted.Add(3*time.Second), "| State | PAUSED |")
	w.at(accepted.Add(4*time.Second), func() { w.signal(workflowv1.CommandResume) })
	seen(accepted.Add(5*time.Second), "| State | SCHEDULED |")
	w.take = func(a *attempt) bool { a.last(10*time.Second, gnomonv1.AttemptStatus_SUCCESS); return true }
	seen(start.Add(time.Second), "| State | RUNNING |")
	w.finish(state(once(nil)))
}
