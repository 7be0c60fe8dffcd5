package e2e

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
)

// A run that is terminated in the Web UI cannot store its end, so its row stays. An
// action created after it under the same id is shown all the same, and not its
// predecessor (M-49, M-61).
func TestCreateAfterTerminate(t *testing.T) {
	t.Parallel()
	i := install(t)
	id := i.id("a")
	i.create(t, i.once(id, "/old", time.Hour))
	require.NoError(t, i.client.TerminateWorkflow(t.Context(), workflowv1.WorkflowID(id), "", "by hand"))
	created := i.create(t, i.once(id, "/new", 2*time.Hour))
	require.Equal(t, gnomonv1.Condition_FALSE, condition(created, "Mirrored").GetStatus())
	eventually(t, 10*time.Second, "the store shows the new action", func() bool {
		a, err := i.facade.GetAction(t.Context(), &gnomonv1.GetActionRequest{Id: id})
		return err == nil && a.GetMeta().GetGuid() == created.GetMeta().GetGuid()
	})
}
