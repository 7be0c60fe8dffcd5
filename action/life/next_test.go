package life_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"gnomon/action/life"
	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
)

// M-10, M-13 to M-16, and the pause: what is done next, at every boundary.
func TestNext(t *testing.T) {
	t.Parallel()
	const us = time.Microsecond
	paused := func(s *workflowv1.ActionState) { s.Paused = true }
	triggered := func(s *workflowv1.ActionState) { s.Triggered = true }
	retrying := func(s *workflowv1.ActionState) {
		s.Occurrence = &workflowv1.Occurrence{Attempts: 1, NotBefore: life.Stamp(start.Add(2 * time.Second))}
	}
	hour := start.Add(time.Hour)
	for name, c := range map[string]struct {
		spec   *gnomonv1.Spec
		change func(*workflowv1.ActionState)
		now    time.Time
		want   life.Decision
	}{
		"before its time":            {once(nil), nil, start.Add(-us), life.Decision{Step: life.Wait, Until: start}},
		"at its time":                {once(nil), nil, start, life.Decision{Step: life.Perform}},
		"long after its time":        {once(nil), nil, start.Add(8760 * time.Hour), life.Decision{Step: life.Perform}},
		"its time at the deadline":   {until(once(nil), start), nil, start, life.Decision{Step: life.Perform}},
		"after the deadline":         {until(once(nil), start), nil, start.Add(us), life.Decision{Step: life.Expire}},
		"deadline before start":      {until(once(nil), start.Add(-us)), nil, accepted, life.Decision{Step: life.Wait, Until: start.Add(-us)}},
		"at a deadline before start": {until(once(nil), start.Add(-us)), nil, start.Add(-us), life.Decision{Step: life.Expire}},
		"deadline later":             {until(once(nil), hour), nil, accepted, life.Decision{Step: life.Wait, Until: start}},
		"no deadline is not 1970":    {once(nil), nil, accepted, life.Decision{Step: life.Wait, Until: start}},
		"paused":                     {once(nil), paused, start, life.Decision{Step: life.Wait}},
		"paused, deadline":           {until(once(nil), hour), paused, start, life.Decision{Step: life.Wait, Until: hour}},
		"paused, at the deadline":    {until(once(nil), hour), paused, hour, life.Decision{Step: life.Expire}},
		"triggered":                  {once(nil), triggered, accepted, life.Decision{Step: life.Perform}},
		"triggered too late":         {until(once(nil), accepted), triggered, accepted.Add(us), life.Decision{Step: life.Expire}},
		"retry not yet":              {once(t1(1)), retrying, start.Add(time.Second), life.Decision{Step: life.Wait, Until: start.Add(2 * time.Second)}},
		"retry due":                  {once(t1(1)), retrying, start.Add(2 * time.Second), life.Decision{Step: life.Perform}},
		"retry beyond the deadline": {
			until(once(t1(1)), start.Add(2*time.Second-us)), retrying, start.Add(time.Second),
			life.Decision{Step: life.Wait, Until: start.Add(2*time.Second - us)},
		},
		"nothing will be due": {once(nil), func(s *workflowv1.ActionState) { s.Status.ScheduledAt = nil }, accepted, life.Decision{Step: life.End}},
		"ended":               {once(nil), life.EndByDeadline, start, life.Decision{Step: life.End}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := state(c.spec)
			if c.change != nil {
				c.change(s)
			}
			require.Equal(t, c.want, life.Next(s, c.now))
		})
	}
}

// A wait always ends in the future, or the workflow would turn in circles; and
// nothing is ever performed while paused, after the deadline or after the end.
func TestNextNeverWaitsForThePast(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		moment := rapid.Custom(func(t *rapid.T) time.Time {
			return start.Add(time.Duration(rapid.IntRange(-5, 5).Draw(t, "us")) * time.Microsecond)
		})
		sp := once(t1(3))
		if rapid.Bool().Draw(t, "periodic") {
			sp = periodic(time.Second, t1(3))
		}
		bounded := rapid.Bool().Draw(t, "bounded")
		deadline := moment.Draw(t, "deadline")
		if bounded {
			until(sp, deadline)
		}
		s := state(sp)
		s.Paused = rapid.Bool().Draw(t, "paused")
		s.Triggered = rapid.Bool().Draw(t, "triggered")
		if rapid.Bool().Draw(t, "occurrence") {
			s.Occurrence = &workflowv1.Occurrence{NotBefore: life.Stamp(moment.Draw(t, "retry"))}
		}
		now := moment.Draw(t, "now")
		d := life.Next(s, now)
		switch d.Step {
		case life.Wait:
			require.True(t, d.Until.After(now) || s.GetPaused() && !bounded && d.Until.IsZero())
			require.False(t, bounded && d.Until.After(deadline))
		case life.Perform:
			require.False(t, s.GetPaused())
			require.False(t, bounded && now.After(deadline))
		case life.Expire:
			require.True(t, bounded && !now.Before(deadline))
		default:
			t.Fatalf("an action that lives and has something due ended: %v", d)
		}
	})
}

// A periodic action that nothing will ever be due for has done all it was to do.
func TestEndForGood(t *testing.T) {
	t.Parallel()
	s := state(periodic(time.Second, nil))
	life.EndForGood(s)
	require.Equal(t, gnomonv1.Status_SUCCEEDED, s.GetStatus().GetState())
	require.True(t, s.GetMirrorOwed())

	s = state(periodic(time.Second, nil))
	life.EndByDeadline(s)
	sequence := s.GetSequence()
	life.EndForGood(s)
	require.Equal(t, gnomonv1.Status_EXPIRED, s.GetStatus().GetState())
	require.Equal(t, sequence, s.GetSequence())
}
