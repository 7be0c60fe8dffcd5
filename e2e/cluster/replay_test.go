package cluster

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/protobuf/types/known/durationpb"

	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/replay"
	"gnomon/workflows"
)

// replays holds that what a site left behind is decided the same by a worker that takes it
// up at any task, with other settings too, and that no task ever failed. A task that was
// cut off, by a kill or by a machine that is busy, is told.
func (s *site) replays(t *testing.T) {
	t.Helper()
	other := workflows.Options{Clusters: &workflowv1.ClusterSettings{
		Interval: durationpb.New(time.Minute), NodeTimeout: durationpb.New(time.Minute), UnfinishedPerAgent: 9, BusyNodes: 1,
	}}
	cut := map[string]int{}
	runs := 0
	for _, one := range s.left(t) {
		runs++
		h := one.history
		for _, o := range []workflows.Options{{}, other} {
			require.NoError(t, replay.RunWith(o, h), one.name)
		}
		tasks := 0
		for i, e := range h.GetEvents() {
			if failed := e.GetWorkflowTaskFailedEventAttributes(); failed != nil {
				// News that came while a run ended or went on as a new one is no failure: Temporal
				// gives it to that run first.
				require.Equal(t, enumspb.WORKFLOW_TASK_FAILED_CAUSE_UNHANDLED_COMMAND, failed.GetCause(), "%s: %v", one.name, e)
				cut[failed.GetCause().String()]++
			}
			if late := e.GetWorkflowTaskTimedOutEventAttributes(); late != nil {
				cut[late.GetTimeoutType().String()]++
			}
			if e.GetWorkflowTaskScheduledEventAttributes() != nil && i > 2 {
				// The history as another worker finds it before this task, each of a short one.
				if tasks++; tasks%max(1, len(h.GetEvents())/100) == 0 {
					part := &historypb.History{Events: h.GetEvents()[:i]}
					require.NoError(t, replay.RunWith(other, part), "%s up to event %d", one.name, e.GetEventId())
				}
			}
		}
	}
	require.Positive(t, runs)
	t.Logf("%d runs replayed; workflow tasks cut off: %v", runs, cut)
}

// leftRun is a run that a site left behind.
type leftRun struct {
	name    string
	history *historypb.History
}

// left are the histories of all runs of the site's cluster and playbooks.
func (s *site) left(t *testing.T) []leftRun {
	t.Helper()
	var all []leftRun
	var token []byte
	for {
		page, err := s.temporal.ListWorkflow(t.Context(), &workflowservice.ListWorkflowExecutionsRequest{
			Query: fmt.Sprintf("TaskQueue = %q", s.queue), NextPageToken: token,
		})
		require.NoError(t, err)
		for _, run := range page.GetExecutions() {
			id := run.GetExecution()
			h := &historypb.History{}
			events := s.temporal.GetWorkflowHistory(t.Context(), id.GetWorkflowId(), id.GetRunId(), false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
			for events.HasNext() {
				e, err := events.Next()
				require.NoError(t, err)
				h.Events = append(h.Events, e)
			}
			all = append(all, leftRun{id.GetWorkflowId() + " " + id.GetRunId(), h})
		}
		if token = page.GetNextPageToken(); len(token) == 0 {
			return all
		}
	}
}

// What clusters and playbooks with every kind of end left behind is replayed.
func TestWhatIsLeftIsReplayed(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.agent(t, "n1", nil)
	n := s.agent(t, "n2", nil)
	g := newGate(t)
	for i, line := range []string{"true", "exit 1"} {
		s.ends(t, s.play(t, fmt.Sprint(i), nil, stage("one", line, "n1", "n2"), stage("two", "true", "n1")).GetId())
	}
	p := s.play(t, "cancelled", nil, stage("one", g.line(), "n2"))
	g.awaits(t)
	n.stop()
	require.NoError(t, s.commandPlaybook(t, p.GetId(), "cancel"))
	s.replays(t)
	s.agentIn(t, n.dir, "n2", nil)
	s.ends(t, p.GetId())
	s.replays(t)
}
