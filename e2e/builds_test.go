package e2e

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/server/api/adminservice/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"gnomon/activities/performers"
	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/starter"
	"gnomon/worker"
)

// Issue 8: an action is started with the builds that its first task would note, so that
// Temporal's lists are not written again for it. Temporal encodes with a type what it notes
// itself.
func TestBuildsAreNotedAtTheStart(t *testing.T) {
	t.Parallel()
	i := installIdle(t)
	facade, err := starter.NewActions(starter.Config{Client: i.client, TaskQueue: i.queue, Store: i.store, Build: "v9.8.7", Logger: i.log})
	require.NoError(t, err)
	conn, err := grpc.NewClient(temporal.Address(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, conn.Close()) })
	admin := adminservice.NewAdminServiceClient(conn)
	create := func(name string) *gnomonv1.ScheduledAction {
		a, err := facade.CreateAction(t.Context(), &gnomonv1.CreateActionRequest{Action: i.once(i.id(name), "/ok", time.Hour)})
		require.NoError(t, err)
		return a
	}
	work := func(build string) *worker.Worker {
		w, err := worker.New(i.client, worker.Config{
			TaskQueue: i.queue, Store: i.store, Performers: performers.Default(), StopGrace: time.Second, Pollers: 4, Logger: i.log, Build: build,
		})
		require.NoError(t, err)
		require.NoError(t, w.Start())
		return w
	}
	noted := func(a *gnomonv1.ScheduledAction) (string, bool) {
		id := a.GetMeta().GetId()
		eventually(t, startWithin, id+" waits", func() bool {
			all := i.events(t, id)
			return all[len(all)-1].GetEventType() == enumspb.EVENT_TYPE_TIMER_STARTED
		})
		d, err := admin.DescribeMutableState(t.Context(), &adminservice.DescribeMutableStateRequest{
			Namespace: client.DefaultNamespace, Execution: &commonpb.WorkflowExecution{WorkflowId: workflowv1.WorkflowID(id)},
		})
		require.NoError(t, err)
		builds := d.GetDatabaseMutableState().GetExecutionInfo().GetSearchAttributes()["BuildIds"]
		return string(builds.GetData()), len(builds.GetMetadata()["type"]) > 0
	}

	w := work("v9.8.7")
	a := create("same")
	builds, anew := noted(a)
	require.JSONEq(t, `["unversioned", "unversioned:v9.8.7"]`, builds)
	require.False(t, anew, "the first task changed nothing")
	eventually(t, startWithin, "it is listed by its build", func() bool {
		found, err := i.client.ListWorkflow(t.Context(), &workflowservice.ListWorkflowExecutionsRequest{
			Query: fmt.Sprintf("BuildIds = 'unversioned:v9.8.7' AND WorkflowId = '%s'", workflowv1.WorkflowID(a.GetMeta().GetId())),
		})
		require.NoError(t, err)
		return len(found.GetExecutions()) == 1
	})
	w.Stop()

	w = work("v9.8.8")
	defer w.Stop()
	builds, anew = noted(create("other"))
	require.JSONEq(t, `["unversioned", "unversioned:v9.8.7", "unversioned:v9.8.8"]`, builds)
	require.True(t, anew)
}
