package life_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gnomon/action/life"
	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
)

// M-59: the due time is in the idempotency key, so no two occurrences share one: not
// a triggered one and the tick that waits meanwhile.
func TestTriggeredOccurrenceIsNotNamedAsItsTick(t *testing.T) {
	t.Parallel()
	s := state(periodic(time.Minute, nil))
	command(t, s, workflowv1.CommandTrigger, &workflowv1.Command{}, start)
	require.Equal(t, life.Over, attempt(t, s, start, succeeded(start)))
	triggered := at(s.GetStatus().GetLastAttemptStatus().GetOccurrence())
	require.Equal(t, start.Add(time.Microsecond), triggered)

	require.Equal(t, start, at(s.GetStatus().GetScheduledAt()), "the tick waited")
	attempt(t, s, start, succeeded(start))
	require.Equal(t, start, at(s.GetStatus().GetLastAttemptStatus().GetOccurrence()))
}

// M-59: nor two triggered ones of one moment.
func TestTriggeredOccurrencesOfOneMomentHaveTheirOwnNames(t *testing.T) {
	t.Parallel()
	s := state(periodic(time.Minute, nil))
	seen := map[string]bool{}
	for range 3 {
		command(t, s, workflowv1.CommandTrigger, &workflowv1.Command{}, accepted)
		attempt(t, s, accepted, succeeded(accepted))
		key := s.GetStatus().GetLastAttemptStatus().GetIdempotencyKey()
		require.False(t, seen[key], key)
		seen[key] = true
	}
}

// M-30: a periodic action's retry that would begin after the deadline is dropped with
// its occurrence, so that nothing waits for it; one at the deadline is made (M-15).
func TestPeriodicRetryBeyondTheDeadlineIsDropped(t *testing.T) {
	t.Parallel()
	for within, verdict := range map[time.Duration]life.Verdict{
		2 * time.Second: life.Again, 2*time.Second - time.Microsecond: life.Over,
	} {
		s := state(until(periodic(time.Minute, t1(3)), start.Add(within)))
		require.Equal(t, verdict, attempt(t, s, start, failed(start)), within)
		require.Equal(t, verdict == life.Over, s.GetOccurrence() == nil)
		if verdict == life.Over {
			require.Equal(t, gnomonv1.Status_SCHEDULED, s.GetStatus().GetState())
			require.Equal(t, start.Add(time.Minute), at(s.GetStatus().GetScheduledAt()))
		}
	}
}

// M-59: all attempts of an occurrence have one key, also where labels changed between
// them, which changes the Guid; the next occurrence goes by the new one.
func TestKeyOutlastsNewLabels(t *testing.T) {
	t.Parallel()
	s := state(periodic(time.Hour, t1(3)))
	attempt(t, s, start, failed(start))
	first := s.GetStatus().GetLastAttemptStatus()
	relabelled := wanted(nil, "guid-2")
	relabelled.Meta.Labels = map[string]string{"team": "x"}
	command(t, s, workflowv1.CommandUpdate, &workflowv1.Command{Action: relabelled, Paths: []string{"meta.labels"}}, start.Add(time.Second))
	require.Equal(t, "guid-2", s.GetMeta().GetGuid())

	attempt(t, s, start.Add(2*time.Second), succeeded(start.Add(2*time.Second)))
	second := s.GetStatus().GetLastAttemptStatus()
	require.EqualValues(t, 2, second.GetAttempt())
	require.Equal(t, first.GetIdempotencyKey(), second.GetIdempotencyKey())

	attempt(t, s, start.Add(time.Hour), succeeded(start.Add(time.Hour)))
	require.Contains(t, s.GetStatus().GetLastAttemptStatus().GetIdempotencyKey(), "/guid-2/")
}
