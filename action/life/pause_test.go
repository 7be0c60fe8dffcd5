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

var none = &workflowv1.Command{}

// Resume: a once-action whose time has passed is performed at once, one whose time
// has not at its time.
func TestResumeOfAOnceAction(t *testing.T) {
	t.Parallel()
	s := state(once(nil))
	command(t, s, workflowv1.CommandPause, none, accepted)
	require.Equal(t, gnomonv1.Status_PAUSED, s.GetStatus().GetState())
	command(t, s, workflowv1.CommandResume, none, accepted)
	require.Equal(t, gnomonv1.Status_SCHEDULED, s.GetStatus().GetState())
	require.Equal(t, life.Decision{Step: life.Wait, Until: start}, life.Next(s, accepted))

	command(t, s, workflowv1.CommandPause, none, accepted)
	command(t, s, workflowv1.CommandResume, none, start.Add(time.Hour))
	require.Equal(t, life.Perform, life.Next(s, start.Add(time.Hour)).Step)
	require.Equal(t, start, at(life.Begin(s, start.Add(time.Hour)).GetOccurrence().GetDue()))
}

// Resume: a periodic action goes on with its next tick, without catching up.
func TestResumeOfAPeriodicAction(t *testing.T) {
	t.Parallel()
	s := state(periodic(time.Minute, nil))
	command(t, s, workflowv1.CommandPause, none, accepted)
	resumed := start.Add(10*time.Minute + time.Second)
	command(t, s, workflowv1.CommandResume, none, resumed)
	require.Equal(t, life.Decision{Step: life.Wait, Until: start.Add(11 * time.Minute)}, life.Next(s, resumed))
}

// Resume before the retry of a tick was due: the retry is dropped with the
// occurrence, and what follows is the next tick. The retry's time used to become
// the due time of an occurrence that no tick asked for.
func TestResumeDropsTheRetryOfATick(t *testing.T) {
	t.Parallel()
	s, in := begun(periodic(time.Minute, t1(9)))
	life.Interrupt(s, in, nil, start, start.Add(10*time.Second), "lost")
	command(t, s, workflowv1.CommandPause, none, start.Add(10*time.Second))
	s.Status.ScheduledAt = life.Stamp(start.Add(30 * time.Second))
	command(t, s, workflowv1.CommandResume, none, start.Add(20*time.Second))
	require.Nil(t, s.GetOccurrence())
	require.Equal(t, start.Add(time.Minute), at(s.GetStatus().GetScheduledAt()))
	require.Equal(t, gnomonv1.Status_SCHEDULED, s.GetStatus().GetState())
}

// Pause and resume during an attempt leave it alone.
func TestResumeDuringAnAttempt(t *testing.T) {
	t.Parallel()
	for name, sp := range map[string]*gnomonv1.Spec{"once": once(t1(3)), "periodic": periodic(time.Minute, t1(3))} {
		s, in := begun(sp)
		command(t, s, workflowv1.CommandPause, none, start)
		require.Equal(t, in.GetSequence(), s.GetPerforming(), name)
		command(t, s, workflowv1.CommandResume, none, start)
		require.Equal(t, in.GetSequence(), s.GetPerforming(), name)
		require.NotNil(t, s.GetOccurrence(), name)
		require.Equal(t, gnomonv1.Status_RUNNING, s.GetStatus().GetState(), name)
	}
}

// Pausing a paused action changes nothing; resuming needs a pause, a trigger none.
func TestPauseGuards(t *testing.T) {
	t.Parallel()
	s := state(once(nil))
	require.ErrorIs(t, life.Check(s, workflowv1.CommandResume, none, accepted), life.ErrNotPaused)
	command(t, s, workflowv1.CommandPause, none, accepted)
	before := proto.CloneOf(s)
	command(t, s, workflowv1.CommandPause, none, accepted)
	require.True(t, proto.Equal(before, s))
	require.ErrorIs(t, life.Check(s, workflowv1.CommandTrigger, none, accepted), life.ErrPaused)
}

// Trigger: a once-action that waits for a retry which the workflow holds does not
// wait any longer; one whose attempts run needs no more.
func TestTriggerOfAOnceActionThatHasBegun(t *testing.T) {
	t.Parallel()
	s, in := begun(once(t1(9)))
	command(t, s, workflowv1.CommandTrigger, none, start)
	require.False(t, s.GetTriggered())
	life.Interrupt(s, in, nil, start, start, "lost")
	require.Equal(t, life.Wait, life.Next(s, start.Add(time.Second)).Step)
	command(t, s, workflowv1.CommandTrigger, none, start.Add(time.Second))
	require.Equal(t, life.Perform, life.Next(s, start.Add(time.Second)).Step)
	require.EqualValues(t, 1, life.Begin(s, start.Add(time.Second)).GetOccurrence().GetAttempts(), "the budget stays")
}

// Trigger: triggers during an attempt of a periodic action become one occurrence
// that follows it, beside the ticks.
func TestTriggersDuringAnAttemptCoalesce(t *testing.T) {
	t.Parallel()
	s, in := begun(periodic(time.Minute, nil))
	for range 3 {
		command(t, s, workflowv1.CommandTrigger, none, start)
	}
	p := progress(in)
	life.Settle(s.GetSpec(), s.GetMeta(), p, succeeded(start.Add(time.Second)))
	life.Adopt(s, p)
	now := start.Add(time.Second)
	require.Equal(t, life.Perform, life.Next(s, now).Step)
	attempt(t, s, now, succeeded(now))
	require.Equal(t, now, at(s.GetStatus().GetLastAttemptStatus().GetOccurrence()))
	require.Equal(t, life.Decision{Step: life.Wait, Until: start.Add(time.Minute)}, life.Next(s, now))
}
