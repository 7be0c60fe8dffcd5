package life_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"gnomon/action/life"
	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
)

// M-10, M-42: a new action is scheduled for StartAt, with nothing counted.
func TestNew(t *testing.T) {
	t.Parallel()
	a := wanted(once(nil), "guid-1")
	a.Status = &gnomonv1.Status{State: gnomonv1.Status_FAILED, FailedAttemptsCounter: 7}
	a.Meta.Labels = map[string]string{"team": "a"}
	s := life.New(a, accepted.Add(999), "request-1")
	require.True(t, proto.Equal(&gnomonv1.Status{
		State: gnomonv1.Status_SCHEDULED, ScheduledAt: life.Stamp(start),
	}, s.GetStatus()))
	require.True(t, proto.Equal(&gnomonv1.Meta{
		Id: "a", Guid: "guid-1", Labels: map[string]string{"team": "a"},
		CreateTime: life.Stamp(accepted), UpdateTime: life.Stamp(accepted),
	}, s.GetMeta()))
	require.Equal(t, "request-1", s.GetCreateRequestId())
}

// M-33: an occurrence that has begun is gone on with, never overlapped by another.
func TestBeginGoesOnWithTheOccurrenceThatHasBegun(t *testing.T) {
	t.Parallel()
	s, first := begun(once(t1(3)))
	require.Equal(t, start, at(first.GetOccurrence().GetDue()))
	require.Equal(t, gnomonv1.Status_RUNNING, s.GetStatus().GetState())
	require.Equal(t, first.GetSequence(), s.GetPerforming())

	s.Occurrence.Attempts, s.MirrorOwed = 2, true
	again := life.Begin(s, start.Add(time.Minute))
	require.Equal(t, start, at(again.GetOccurrence().GetDue()))
	require.EqualValues(t, 2, again.GetOccurrence().GetAttempts())
	require.Greater(t, again.GetSequence(), first.GetSequence())
	require.False(t, s.GetMirrorOwed(), "the attempts write a newer row")

	again.Status.State = gnomonv1.Status_FAILED
	require.Equal(t, gnomonv1.Status_RUNNING, s.GetStatus().GetState(), "the input is a copy")
}

// Trigger: a once-action is performed now instead of at its time.
func TestBeginOfATriggeredOnceAction(t *testing.T) {
	t.Parallel()
	s := state(once(nil))
	command(t, s, workflowv1.CommandTrigger, &workflowv1.Command{}, accepted)
	in := life.Begin(s, accepted)
	require.Equal(t, accepted, at(in.GetOccurrence().GetDue()))
	require.Nil(t, in.GetOccurrence().GetWaitingTick())
	require.False(t, s.GetTriggered())
}

// Trigger: a periodic action gets one occurrence more and keeps its ticks, however
// often it was triggered.
func TestBeginOfATriggeredPeriodicAction(t *testing.T) {
	t.Parallel()
	s := state(periodic(time.Hour, nil))
	for range 3 {
		command(t, s, workflowv1.CommandTrigger, &workflowv1.Command{}, accepted)
	}
	require.Equal(t, life.Over, attempt(t, s, accepted, succeeded(accepted.Add(time.Second))))
	require.Equal(t, start, at(s.GetStatus().GetScheduledAt()))
	require.Equal(t, accepted, at(s.GetStatus().GetLastAttemptStatus().GetOccurrence()))
	require.Equal(t, life.Decision{Step: life.Wait, Until: start}, life.Next(s, accepted.Add(time.Second)))

	require.Equal(t, life.Over, attempt(t, s, start, succeeded(start.Add(time.Second))))
	require.Equal(t, start.Add(time.Hour), at(s.GetStatus().GetScheduledAt()))
}

// The tick that waits while a triggered occurrence runs is not lost where the
// occurrence outlasts it: it comes next, late, and those after it as planned.
func TestTriggeredOccurrenceOutlastsItsWaitingTick(t *testing.T) {
	t.Parallel()
	s := state(periodic(time.Minute, nil))
	command(t, s, workflowv1.CommandTrigger, &workflowv1.Command{}, accepted)
	attempt(t, s, accepted, failed(start.Add(90*time.Second)))
	require.Equal(t, start, at(s.GetStatus().GetScheduledAt()))
	require.Equal(t, life.Perform, life.Next(s, start.Add(90*time.Second)).Step)
	attempt(t, s, start.Add(90*time.Second), succeeded(start.Add(91*time.Second)))
	require.Equal(t, start, at(s.GetStatus().GetLastAttemptStatus().GetOccurrence()))
	require.Equal(t, start.Add(2*time.Minute), at(s.GetStatus().GetScheduledAt()))
}
