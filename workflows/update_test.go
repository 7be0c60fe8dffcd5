package workflows_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
)

// answer is what an update was answered.
type answer struct {
	result  *workflowv1.CommandResult
	refused string // the type of the refusal
	err     error
	at      time.Time
}

// update sends a command as a Workflow Update, which is answered by the next task.
func (w *world) update(name string, c any) *answer {
	a := &answer{}
	refuse := func(err error) {
		a.err, a.at = err, w.now()
		if e, ok := err.(*temporal.ApplicationError); ok { //nolint:errorlint // exactly this one crosses the wire
			a.refused = e.Type()
		}
	}
	w.env.UpdateWorkflow(name, "", &testsuite.TestUpdateCallback{
		OnReject: refuse,
		OnAccept: func() {},
		OnComplete: func(v any, err error) {
			if err != nil {
				refuse(err)
				return
			}
			a.result, a.at = v.(*workflowv1.CommandResult), w.now()
		},
	}, c)
	return a
}

// M-07, M-42, M-43: whatever an action is doing when it is updated, the old spec is
// never attempted again, and the new one is performed with a Guid, a Status and a
// budget of its own.
func TestUpdate(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		at   time.Duration
		take bool
	}{
		"during the sleep":       {-time.Second, false},
		"during the attempt":     {time.Second, true},
		"during the retry wait":  {time.Second, false},
		"during a late retry":    {9 * time.Second, false},
		"as the retry falls due": {2 * time.Second, false},
	} {
		for _, how := range []string{"update", "signal"} {
			t.Run(name+", "+how, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				cancelled := 0
				w.env.SetOnActivityCanceledListener(func(i *activity.Info) {
					require.Equal(t, workflowv1.PerformActivity, i.ActivityType.Name)
					cancelled++
				})
				w.perform = fails
				w.take = func(a *attempt) bool {
					if c.take && a.in.GetMeta().GetGuid() == "guid-1" {
						a.last(10*time.Second, gnomonv1.AttemptStatus_FAILURE)
						return true
					}
					return false
				}
				updated := start.Add(c.at)
				next := update(startingAt(once(t1(1)), updated.Add(30*time.Second)), "guid-2")
				var a *answer
				w.at(updated, func() {
					if how == "signal" {
						w.signalWith(true, workflowv1.CommandUpdate, next)
						return
					}
					a = w.update(workflowv1.CommandUpdate, next)
				})
				st := w.finish(state(once(t1(9))))
				for _, m := range w.attempts {
					require.Equal(t, m.guid == "guid-2", m.at.After(updated), "%s at %s", m.guid, m.at)
				}
				n := len(w.attempts)
				require.Equal(t, []time.Duration{c.at + 30*time.Second, c.at + 32*time.Second}, w.acted()[n-2:])
				require.Equal(t, []string{"guid-2", "guid-2"}, w.guids()[n-2:])
				require.EqualValues(t, 2, st.GetFailedAttemptsCounter(), "the counters started afresh")
				require.Equal(t, c.at >= 0, cancelled == 1, "the server refuses to begin what was cancelled")
				if how == "update" {
					require.NoError(t, a.err)
					require.Equal(t, updated, a.at)
					require.Equal(t, "guid-2", a.result.GetAction().GetMeta().GetGuid())
					require.Equal(t, gnomonv1.Status_SCHEDULED, a.result.GetAction().GetStatus().GetState())
					require.False(t, a.result.GetTombstone())
				}
			})
		}
	}
}

// Delete, however it comes and whatever the action is doing: no attempt begins any
// more, the action ends as deleted, and so does its row.
func TestDelete(t *testing.T) {
	t.Parallel()
	for how, send := range map[string]func(*world){
		"update": func(w *world) { w.update(workflowv1.CommandCancel, &workflowv1.Command{}) },
		"signal": func(w *world) { w.signal(workflowv1.CommandCancel) },
		"cancel": func(w *world) { w.env.CancelWorkflow() },
	} {
		for name, c := range map[string]struct {
			at   time.Duration
			take bool
			want int
		}{
			"during the sleep":      {-time.Second, false, 0},
			"during the attempt":    {time.Second, true, 1},
			"during the retry wait": {time.Second, false, 1},
			"while paused":          {-time.Microsecond, false, 0},
		} {
			t.Run(name+", "+how, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				w.perform = fails
				w.take = func(a *attempt) bool {
					if c.take {
						a.last(10*time.Second, gnomonv1.AttemptStatus_FAILURE)
					}
					return c.take
				}
				if name == "while paused" {
					w.at(start.Add(-time.Second), func() { w.signal(workflowv1.CommandPause) })
				}
				w.at(start.Add(c.at), func() { send(w) })
				st := w.finish(state(once(t1(9))))
				require.Equal(t, gnomonv1.Status_DELETED, st.GetState())
				require.Len(t, w.attempts, c.want)
				require.Equal(t, start.Add(c.at), w.now(), "nothing is waited for")
				require.Nil(t, st.GetScheduledAt())
				require.Nil(t, st.GetCurrentAttemptStatus())
			})
		}
	}
}

// Refusals have the types that the facade maps, and change nothing.
func TestUpdateRefusals(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	stale := &workflowv1.Command{Etag: "guid-0"}
	exists := update(once(nil), "guid-2")
	exists.CreateOnly, exists.Revive = true, true
	bad := update(startingAt(once(nil), accepted.Add(-11*time.Minute)), "guid-2")
	var answers map[string]*answer
	w.at(accepted.Add(time.Second), func() {
		answers = map[string]*answer{
			workflowv1.RefusedEtag:      w.update(workflowv1.CommandPause, stale),
			workflowv1.RefusedExists:    w.update(workflowv1.CommandUpdate, exists),
			workflowv1.RefusedNotPaused: w.update(workflowv1.CommandResume, &workflowv1.Command{}),
		}
	})
	malformed := map[string]*answer{}
	w.at(accepted.Add(2*time.Second), func() {
		malformed["start_at"] = w.update(workflowv1.CommandUpdate, bad)
		malformed["no action"] = w.update(workflowv1.CommandUpdate, &workflowv1.Command{})
		malformed["not JSON of it"] = w.update(workflowv1.CommandPause, "text")
		malformed["unknown field"] = w.update(workflowv1.CommandPause, map[string]any{"etagg": "guid-1"})
		malformed["binary"] = w.update(workflowv1.CommandPause, []byte{0xff, 0})
	})
	var paused, trigger *answer
	w.at(accepted.Add(3*time.Second), func() {
		require.Equal(t, gnomonv1.Status_SCHEDULED, w.action().GetAction().GetStatus().GetState())
		require.Empty(t, w.action().GetAction().GetStatus().GetConditions())
		paused = w.update(workflowv1.CommandPause, &workflowv1.Command{Etag: "guid-1"})
	})
	w.at(accepted.Add(4*time.Second), func() {
		trigger = w.update(workflowv1.CommandTrigger, &workflowv1.Command{})
		w.update(workflowv1.CommandCancel, &workflowv1.Command{})
	})
	w.finish(state(once(nil)))
	for want, a := range answers {
		require.Equal(t, want, a.refused)
	}
	for name, a := range malformed {
		require.Equal(t, workflowv1.RefusedMalformed, a.refused, name)
	}
	require.ErrorContains(t, malformed["start_at"].err, "spec.start_policy.start_at")
	require.NoError(t, paused.err)
	require.Equal(t, gnomonv1.Status_PAUSED, paused.result.GetAction().GetStatus().GetState())
	require.Equal(t, workflowv1.RefusedPaused, trigger.refused)
}

// After the end, while the last row is not stored yet: commands are refused as for
// what does not exist.
func TestCommandsAfterTheEnd(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.rows.SetDown(true)
	w.at(accepted.Add(time.Second), func() { w.update(workflowv1.CommandCancel, &workflowv1.Command{Id: "c-1"}) })
	var late, again *answer
	w.at(accepted.Add(2*time.Second), func() {
		late = w.update(workflowv1.CommandPause, &workflowv1.Command{})
		again = w.update(workflowv1.CommandCancel, &workflowv1.Command{Id: "c-1"})
		w.rows.SetDown(false)
	})
	st := w.finish(state(once(nil)))
	require.Equal(t, gnomonv1.Status_DELETED, st.GetState())
	require.Equal(t, workflowv1.RefusedNotFound, late.refused)
	require.NoError(t, again.err, "the same command again is answered, not refused")
	require.True(t, again.result.GetTombstone())
}

// An update comes after the signals that were accepted before it, though the SDK
// would run its handler first: they decide whether it fits.
func TestUpdateComesAfterTheSignalsBeforeIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var resume, trigger, late *answer
	w.at(accepted.Add(time.Second), func() {
		w.signalWith(false, workflowv1.CommandPause, &workflowv1.Command{})
		resume = w.update(workflowv1.CommandResume, &workflowv1.Command{})
	})
	w.at(accepted.Add(2*time.Second), func() {
		w.signalWith(false, workflowv1.CommandPause, &workflowv1.Command{})
		trigger = w.update(workflowv1.CommandTrigger, &workflowv1.Command{})
	})
	w.at(accepted.Add(3*time.Second), func() {
		w.signalWith(false, workflowv1.CommandCancel, &workflowv1.Command{})
		late = w.update(workflowv1.CommandResume, &workflowv1.Command{})
	})
	st := w.finish(state(once(nil)))
	require.NoError(t, resume.err)
	require.Equal(t, gnomonv1.Status_SCHEDULED, resume.result.GetAction().GetStatus().GetState())
	require.Equal(t, workflowv1.RefusedPaused, trigger.refused)
	require.Equal(t, workflowv1.RefusedNotFound, late.refused)
	require.Equal(t, gnomonv1.Status_DELETED, st.GetState())
}
