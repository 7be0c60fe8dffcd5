package queue_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/timestamppb"

	"gnomon/agent/queue"
	gnomonv1 "gnomon/api/gnomon/v1"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func action(id string, created time.Duration) *gnomonv1.NodeAction {
	return &gnomonv1.NodeAction{
		Id: id, CreateTime: timestamppb.New(noon.Add(created)),
		Action: &gnomonv1.NodeAction_Exec{Exec: &gnomonv1.ExecAction{Argv: []string{"/bin/" + id}}},
	}
}

func open(t *testing.T) (*queue.Queue, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "queue.db")
	q, err := queue.Open(t.Context(), path)
	require.NoError(t, err)
	t.Cleanup(func() { _ = q.Close() })
	return q, path
}

func add(t *testing.T, q *queue.Queue, actions ...*gnomonv1.NodeAction) {
	t.Helper()
	for _, a := range actions {
		_, err := q.Add(t.Context(), a, noon)
		require.NoError(t, err)
	}
}

// one at a time, in the order of creation whatever the order of arrival.
func TestOneAtATimeInOrder(t *testing.T) {
	t.Parallel()
	q, _ := open(t)
	add(t, q, action("late", time.Minute), action("early", 0), action("b", time.Second), action("a", time.Second))
	for _, want := range []string{"early", "a", "b", "late"} {
		a, err := q.Claim(t.Context(), noon)
		require.NoError(t, err)
		require.Equal(t, want, a.GetId())
		require.Equal(t, gnomonv1.NodeAction_RUNNING, a.GetState())
		again, err := q.Claim(t.Context(), noon)
		require.NoError(t, err)
		require.Nil(t, again, "nothing beside it")
		require.NoError(t, q.Finish(t.Context(), want, gnomonv1.NodeAction_DONE, "", nil, noon))
		require.ErrorIs(t, q.Finish(t.Context(), want, gnomonv1.NodeAction_FAILED, "", nil, noon), queue.ErrFinished)
	}
	a, err := q.Claim(t.Context(), noon)
	require.NoError(t, err)
	require.Nil(t, a)
}

// what stands under an id is told again to who gives it, though he fetched it before:
// else he would wait for it for ever.
func TestAddTellsAgain(t *testing.T) {
	t.Parallel()
	q, _ := open(t)
	add(t, q, action("a", 0))
	seen, cursor, _, err := q.Changes(t.Context(), 0, 10, 1<<20)
	require.NoError(t, err)
	require.Len(t, seen, 1)
	for _, wanted := range []*gnomonv1.NodeAction{action("a", 0), {Id: "a", Action: action("b", 0).GetAction()}} {
		seen, _, _, err = q.Changes(t.Context(), cursor, 10, 1<<20)
		require.NoError(t, err)
		require.Empty(t, seen)
		_, _ = q.Add(t.Context(), wanted, noon)
		seen, cursor, _, err = q.Changes(t.Context(), cursor, 10, 1<<20)
		require.NoError(t, err)
		require.Len(t, seen, 1)
		require.Equal(t, "/bin/a", seen[0].GetExec().GetArgv()[0])
	}
}

// idempotent by id, and another's work under the id is refused.
func TestAdd(t *testing.T) {
	t.Parallel()
	q, _ := open(t)
	add(t, q, action("a", 0), action("a", time.Hour))
	list, err := q.List(t.Context(), true, 10)
	require.NoError(t, err)
	require.Len(t, list, 1)
	require.Equal(t, noon, list[0].GetCreateTime().AsTime())
	other := action("a", 0)
	other.GetExec().Argv = []string{"/bin/other"}
	stands, err := q.Add(t.Context(), other, noon)
	require.ErrorIs(t, err, queue.ErrOther)
	require.Equal(t, []string{"/bin/a"}, stands.GetExec().GetArgv())
}

// Issue 6: what was RUNNING when the agent died is CANCELLED, what ran for it is stopped
// before, and nothing that waited is lost.
func TestCrash(t *testing.T) {
	t.Parallel()
	q, path := open(t)
	add(t, q, action("a", 0), action("b", time.Second))
	_, err := q.Claim(t.Context(), noon)
	require.NoError(t, err)
	require.NoError(t, q.Process(t.Context(), "a", "123 456"))
	incarnation := q.Incarnation()
	require.NoError(t, q.Close())

	q, err = queue.Open(t.Context(), path)
	require.NoError(t, err)
	defer q.Close()
	require.Equal(t, incarnation, q.Incarnation())
	none, err := q.Claim(t.Context(), noon)
	require.NoError(t, err)
	require.Nil(t, none, "not before the dead one's is stopped")
	var stopped []string
	ids, err := q.Interrupted(t.Context(), noon, func(process string) error { stopped = append(stopped, process); return nil })
	require.NoError(t, err)
	require.Equal(t, []string{"a"}, ids)
	require.Equal(t, []string{"123 456"}, stopped)
	a, err := q.Get(t.Context(), "a")
	require.NoError(t, err)
	require.Equal(t, gnomonv1.NodeAction_CANCELLED, a.GetState())
	require.Equal(t, queue.ReasonInterrupted, a.GetReason())
	b, err := q.Claim(t.Context(), noon)
	require.NoError(t, err)
	require.Equal(t, "b", b.GetId())
}

// Two agents on one file would run two actions side by side.
func TestOpenTwice(t *testing.T) {
	t.Parallel()
	_, path := open(t)
	_, err := queue.Open(t.Context(), path)
	require.ErrorContains(t, err, "another agent")
}

// Every change is seen once, as it is when it is seen.
func TestChanges(t *testing.T) {
	t.Parallel()
	q, _ := open(t)
	add(t, q, action("a", 0), action("b", 1), action("c", 2))
	first, next, more, err := q.Changes(t.Context(), 0, 2, 1<<20)
	require.NoError(t, err)
	require.Len(t, first, 2)
	require.True(t, more)
	_, err = q.Claim(t.Context(), noon)
	require.NoError(t, err)
	second, next, more, err := q.Changes(t.Context(), next, 10, 1<<20)
	require.NoError(t, err)
	require.False(t, more)
	require.Equal(t, []string{"c", "a"}, []string{second[0].GetId(), second[1].GetId()})
	require.Equal(t, gnomonv1.NodeAction_RUNNING, second[1].GetState())
	third, _, _, err := q.Changes(t.Context(), next, 10, 1<<20)
	require.NoError(t, err)
	require.Empty(t, third)
	absent, err := q.Absent(t.Context(), []string{"a", "x"})
	require.NoError(t, err)
	require.Equal(t, []string{"x"}, absent)
}

// One answer stays small enough for Temporal, however much programs wrote, and none is
// left out.
func TestChangesAreBoundedInBytes(t *testing.T) {
	t.Parallel()
	q, _ := open(t)
	for i, id := range []string{"a", "b", "c", "d"} {
		big := action(id, time.Duration(i))
		big.GetExec().Argv = []string{"/bin/" + id, strings.Repeat("x", 1000)}
		add(t, q, big)
	}
	var pages [][]string
	for after, more := uint64(0), true; more; {
		var page []*gnomonv1.NodeAction
		var err error
		page, after, more, err = q.Changes(t.Context(), after, 10, 2500)
		require.NoError(t, err)
		pages = append(pages, nil)
		for _, a := range page {
			pages[len(pages)-1] = append(pages[len(pages)-1], a.GetId())
		}
	}
	require.Equal(t, [][]string{{"a", "b"}, {"c", "d"}}, pages)
	one, _, more, err := q.Changes(t.Context(), 0, 10, 1)
	require.NoError(t, err)
	require.True(t, more)
	require.Len(t, one, 1, "what is too large alone goes alone")
}

func TestCancel(t *testing.T) {
	t.Parallel()
	q, _ := open(t)
	add(t, q, action("a", 0), action("b", 1))
	_, err := q.Claim(t.Context(), noon)
	require.NoError(t, err)
	running, err := q.Cancel(t.Context(), "a", "enough", noon)
	require.NoError(t, err)
	require.Equal(t, gnomonv1.NodeAction_RUNNING, running.GetState())
	require.True(t, running.GetCancelRequested())
	waiting, err := q.Cancel(t.Context(), "b", "", noon)
	require.NoError(t, err)
	require.Equal(t, gnomonv1.NodeAction_CANCELLED, waiting.GetState())
	_, err = q.Cancel(t.Context(), "b", "", noon)
	require.ErrorIs(t, err, queue.ErrFinished)

	// Cancelled before it came: it never begins.
	_, err = q.Cancel(t.Context(), "c", "too late", noon)
	require.ErrorIs(t, err, queue.ErrNotFound)
	_, err = q.Add(t.Context(), action("c", 3), noon)
	requireClosed(t, err, gnomonv1.NodeAction_CANCELLED, "too late")
}

// By age and by count, never what has not finished; a purged id stays closed for a
// while (R-28: it must not run twice).
func TestPurge(t *testing.T) {
	t.Parallel()
	q, _ := open(t)
	for i, id := range []string{"a", "b", "c", "d"} {
		add(t, q, action(id, time.Duration(i)))
		_, err := q.Claim(t.Context(), noon)
		require.NoError(t, err)
		require.NoError(t, q.Finish(t.Context(), id, gnomonv1.NodeAction_DONE, "", nil, noon.Add(time.Duration(i)*time.Hour)))
	}
	add(t, q, action("waiting", 0))
	later := noon.Add(10 * time.Hour)
	n, err := q.Purge(t.Context(), noon.Add(time.Hour), 2, 100, later, noon)
	require.NoError(t, err)
	require.Equal(t, 2, n, "a by age, b by count")
	absent, err := q.Absent(t.Context(), []string{"a", "b", "c", "d", "waiting"})
	require.NoError(t, err)
	require.Equal(t, []string{"a", "b"}, absent)
	_, err = q.Add(t.Context(), action("a", 0), later)
	requireClosed(t, err, gnomonv1.NodeAction_LOST, "its record was purged")
	_, err = q.Purge(t.Context(), noon, 10, 100, later, later.Add(time.Second))
	require.NoError(t, err)
	_, err = q.Add(t.Context(), action("a", 0), later)
	require.NoError(t, err, "forgotten")
}

func requireClosed(t *testing.T, err error, state gnomonv1.NodeAction_State, reason string) {
	t.Helper()
	var closed *queue.ClosedError
	require.ErrorAs(t, err, &closed)
	require.Equal(t, queue.ClosedError{State: state, Reason: reason}, *closed)
}
