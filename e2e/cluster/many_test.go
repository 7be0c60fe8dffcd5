package cluster

import (
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
)

// Issue 6: many agents with five actions each, all of which finish, the agents working at
// the same time. The events of the cluster's workflow are counted, over all its runs.
// GNOMON_TEST_NODES says how many agents.
func TestManyAgents(t *testing.T) {
	t.Parallel()
	nodes := 5
	if n, err := strconv.Atoi(os.Getenv("GNOMON_TEST_NODES")); err == nil {
		nodes = n
	}
	const each = 5
	s := openWith(t, &workflowv1.ClusterSettings{})
	names := make([]string, nodes)
	for i := range nodes {
		names[i] = fmt.Sprintf("n%d", i)
		s.agent(t, names[i], nil)
	}
	s.health(t, gnomonv1.Node_UP, names...)
	before := s.events(t)
	began := time.Now()
	for i := range nodes * each {
		s.schedule(t, strconv.Itoa(i), names[i%nodes], "true", nil)
	}
	accepted := time.Since(began)
	require.Eventually(t, func() bool {
		c, err := s.clusters.GetCluster(t.Context(), &gnomonv1.GetClusterRequest{Cluster: s.cluster})
		require.NoError(t, err)
		return c.GetUnfinishedActions() == 0
	}, 10*within, 200*time.Millisecond)
	took := time.Since(began)
	events := s.events(t) - before
	done := 0
	for token := ""; ; {
		page, err := s.clusters.ListNodeActions(t.Context(), &gnomonv1.ListNodeActionsRequest{
			Cluster: s.cluster, PageSize: 1000, PageToken: token, States: []gnomonv1.NodeAction_State{gnomonv1.NodeAction_DONE},
		})
		require.NoError(t, err)
		done += len(page.GetActions())
		if token = page.GetNextPageToken(); token == "" {
			break
		}
	}
	// The rows of the last cycle may still be on their way to the store.
	for i := range nodes * each {
		s.reaches(t, strconv.Itoa(i), gnomonv1.NodeAction_DONE)
	}
	t.Logf("%d agents, %d actions: accepted in %s, finished in %s (%s an action), %.1f events an action; the list had %d of them at once",
		nodes, nodes*each, accepted, took, took/time.Duration(nodes*each), float64(events)/float64(nodes*each), done)
	require.Less(t, events, nodes*each*100, "events an action")
}

// events counts those of the cluster's workflow, of all its runs.
func (s *site) events(t *testing.T) int {
	t.Helper()
	total, run := 0, ""
	for {
		history := s.temporal.GetWorkflowHistory(t.Context(), workflowv1.ClusterWorkflowID(s.cluster), run, false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
		before := ""
		for history.HasNext() {
			event, err := history.Next()
			require.NoError(t, err)
			if started := event.GetWorkflowExecutionStartedEventAttributes(); started != nil {
				before = started.GetContinuedExecutionRunId()
			}
			total++
		}
		if run = before; run == "" {
			return total
		}
	}
}
