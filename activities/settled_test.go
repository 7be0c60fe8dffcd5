package activities_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"

	"gnomon/activities/performers"
	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/store"
)

// M-38: what an attempt leaves says whether it had ended. A worker that is lost
// before its report came through is then not counted as interrupted too; one that is
// lost in the middle of a retry is not taken for the attempt before it.
func TestHeartbeatsSayWhetherTheAttemptHasEnded(t *testing.T) {
	t.Parallel()
	b := newBench(t, 9)
	b.perform = failing
	b.fail()
	b.close()
	require.NotEmpty(t, b.beats)
	left := b.beats[len(b.beats)-1]
	require.True(t, left.GetSettled(), "the failure's own")

	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, 9)
		defer b.close()
		b.env.SetHeartbeatDetails(left)
		b.info = func(i *activity.Info) { i.Attempt = 2 }
		b.perform = func(context.Context, performers.Request) (performers.Reply, error) {
			<-time.After(15 * time.Second) // of the bubble
			return performers.Reply{}, nil
		}
		_, err := b.run()
		require.NoError(t, err)
		require.NotEmpty(t, b.beats)
		for _, beat := range b.beats {
			require.False(t, beat.GetSettled())
			require.EqualValues(t, 1, beat.GetCounted())
		}
	})
}

// M-61: rows of an attempt that asked come after those of the commands since its
// occurrence began, and show what these changed.
func TestRowsComeAfterCommandsSince(t *testing.T) {
	t.Parallel()
	b := newBench(t, 9)
	defer b.close()
	b.info = func(i *activity.Info) { i.Attempt = 2 }
	b.answer = func(int) (*workflowv1.Standing, error) {
		return &workflowv1.Standing{
			Guid: "guid-1", Perform: true, Sequence: b.in.GetSequence(), RowSequence: b.in.GetSequence() + 3,
			Meta:       &gnomonv1.Meta{Id: "a", Guid: "guid-2", Labels: map[string]string{"team": "x"}},
			Conditions: []*gnomonv1.Condition{{Type: "CommandsAccepted", Status: gnomonv1.Condition_FALSE}},
		}, nil
	}
	_, err := b.run()
	require.NoError(t, err)
	row, ok := b.store.Row("a")
	require.True(t, ok)
	require.Equal(t, store.Revision{
		Incarnation: start.Add(-time.Minute), Sequence: b.in.GetSequence() + 3, Attempt: 2, Phase: store.PhaseLast,
	}, row.Revision)
	require.Equal(t, "guid-2", row.Action.GetMeta().GetGuid())
	require.Equal(t, "x", row.Action.GetMeta().GetLabels()["team"])
	require.Len(t, row.Action.GetStatus().GetConditions(), 1)
}
