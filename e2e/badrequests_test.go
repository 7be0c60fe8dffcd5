package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/protobuf/proto"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/store"
)

// issue 2: at least 40 bad requests each get their precise code and field path,
// over gRPC and REST, and leave nothing behind.
//
//nolint:tparallel // the rows are parallel, what is held after them waits for all
func TestBadRequests(t *testing.T) {
	t.Parallel()
	s := serveFacade(t, nil)
	s.stand(t)
	first, err := s.calls.ListActions(t.Context(), &gnomonv1.ListActionsRequest{PageSize: 1})
	require.NoError(t, err)
	require.NotEmpty(t, first.GetNextPageToken())
	rows := slices.Concat(
		badSchedules(s), badRetries(s), badRepeats(s), badContents(s), badNames(s),
		badCommands(s), badUpdates(s), badConflicts(s), badPreviews(s), badLists(first.GetNextPageToken()), badJSON(s),
	)
	require.GreaterOrEqual(t, len(rows), 60)
	before := []moment{s.see(t, standing), s.see(t, paused)}

	t.Run("rows", func(t *testing.T) {
		for n, row := range rows {
			t.Run(fmt.Sprintf("%d %s", n, row.name), func(t *testing.T) {
				t.Parallel()
				row.run(t, s)
			})
		}
	})

	for n, name := range []string{standing, paused} {
		after := s.see(t, name)
		require.Equal(t, before[n].action, after.action, "%s is another", name)
		require.Equal(t, kinds(before[n].events), kinds(after.events), "the history of %s", name)
		for k, e := range after.events {
			require.True(t, proto.Equal(before[n].events[k], e), "%v", e)
		}
	}
	kept := []string{s.id(standing), s.id(paused)}
	for _, row := range rows {
		for _, id := range row.ids() {
			if !slices.Contains(kept, id) {
				s.nothing(t, id)
			}
		}
	}
	s.only(t, kept)
	require.Empty(t, s.inbox.Arrivals())
	require.Empty(t, s.logs.with("level=ERROR"))
	require.Empty(t, s.logs.with("level=WARN"), "what a caller did wrong is no trouble of the operator's")
}

// stand creates the actions that bad commands are for.
func (s *served) stand(t *testing.T) {
	t.Helper()
	a := retrying(s.once(s.id(standing), "/ok", time.Hour), 3)
	a.Meta.Labels = map[string]string{"team": "a", "tenant": "b"}
	_, err := s.calls.CreateAction(t.Context(), &gnomonv1.CreateActionRequest{Action: a, RequestId: firstRequest})
	require.NoError(t, err)
	s.installation.create(t, s.once(s.id(paused), "/ok", time.Hour))
	_, err = s.calls.PauseAction(t.Context(), &gnomonv1.PauseActionRequest{Id: s.id(paused)})
	require.NoError(t, err)
	// Five events: started, a task of three, the timer. What was paused has stored its
	// row since, by an activity and one task more.
	eventually(t, 20*time.Second, "it sleeps", func() bool { return len(s.events(t, s.id(standing))) == 5 })
	eventually(t, 20*time.Second, "its row is stored", func() bool {
		all := s.events(t, s.id(paused))
		return has(all, enumspb.EVENT_TYPE_ACTIVITY_TASK_COMPLETED) &&
			all[len(all)-1].GetEventType() == enumspb.EVENT_TYPE_WORKFLOW_TASK_COMPLETED
	})
}

// moment is an action as its workflow says it is, encoded, with its history.
type moment struct {
	action string
	events []*historypb.HistoryEvent
}

func (s *served) see(t *testing.T, name string) moment {
	t.Helper()
	a, err := s.calls.GetAction(t.Context(), &gnomonv1.GetActionRequest{Id: s.id(name), Fresh: true})
	require.NoError(t, err)
	encoded, err := proto.MarshalOptions{Deterministic: true}.Marshal(a)
	require.NoError(t, err)
	return moment{string(encoded), s.events(t, s.id(name))}
}

// nothing holds that neither Temporal nor the store has ever heard of an id.
func (s *served) nothing(t *testing.T, id string) {
	t.Helper()
	_, err := s.store.GetAction(t.Context(), id)
	require.ErrorIs(t, err, store.ErrNotFound, "%q", id)
	if strings.ContainsFunc(id, func(r rune) bool { return r < ' ' || r > '~' }) {
		return // Temporal's client cannot even ask for it; only sees all there is
	}
	_, err = s.client.DescribeWorkflowExecution(t.Context(), workflowv1.WorkflowID(id), "")
	var missing *serviceerror.NotFound
	require.ErrorAs(t, err, &missing, "%q", id)
}

// only holds that these actions are all that Temporal and the store have of this
// installation.
func (s *served) only(t *testing.T, ids []string) {
	t.Helper()
	rows, err := s.store.ListActions(t.Context(), store.ActionQuery{ShowFinished: true, Order: store.ByID, Limit: 1000})
	require.NoError(t, err)
	var stored []string
	for _, row := range rows {
		stored = append(stored, row.Action.GetMeta().GetId())
	}
	require.ElementsMatch(t, ids, stored)
	// Visibility is written later, in the order of the runs: what was there before the
	// last one shows with it.
	last := s.id("last")
	s.installation.create(t, s.once(last, "/ok", time.Hour))
	want := []string{workflowv1.WorkflowID(last)}
	for _, id := range ids {
		want = append(want, workflowv1.WorkflowID(id))
	}
	var seen []string
	eventually(t, 30*time.Second, "the last one shows", func() bool {
		reply, err := s.client.ListWorkflow(t.Context(), &workflowservice.ListWorkflowExecutionsRequest{Query: fmt.Sprintf("TaskQueue = %q", s.queue)})
		require.NoError(t, err)
		seen = nil
		for _, run := range reply.GetExecutions() {
			seen = append(seen, run.GetExecution().GetWorkflowId())
		}
		return slices.Contains(seen, want[0])
	})
	require.ElementsMatch(t, want, seen)
}
