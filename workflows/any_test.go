package workflows_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"gnomon/activities/performers"
	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
)

// deed is a command and when it is sent, and how.
type deed struct {
	at       time.Time
	name     string
	asUpdate bool
	startIn  time.Duration
	done     bool
}

// seen is how the action stood right after a deed.
type seen struct {
	at     time.Time
	guid   string
	paused bool
}

// saga is an action with all that is done to it, over all its runs.
type saga struct {
	t        *testing.T
	spec     *gnomonv1.Spec
	retries  uint32
	ends     []string
	deeds    []*deed
	handOver time.Time // the server suggests to continue as new

	begun    atomic.Int32
	stood    []seen
	attempts []made
}

func drawSaga(t *testing.T, rt *rapid.T) *saga {
	t.Helper()
	s := &saga{t: t, retries: rapid.Uint32Range(0, 4).Draw(rt, "retries"), stood: []seen{{at: accepted, guid: "guid-1"}}}
	s.spec = once(t1(s.retries))
	if rapid.Bool().Draw(rt, "periodic") {
		s.spec = periodic(time.Duration(rapid.IntRange(3, 20).Draw(rt, "period"))*time.Second, t1(s.retries))
	}
	s.ends = rapid.SliceOfN(rapid.SampledFrom([]string{"success", "failure", "failure", "panic", "lost"}), 8, 8).Draw(rt, "ends")
	ms := func(name string) time.Time {
		return start.Add(time.Duration(rapid.IntRange(-50_000, 60_000).Draw(rt, name)) * time.Millisecond)
	}
	s.handOver = ms("hand over").Add(time.Nanosecond)
	names := rapid.SampledFrom([]string{
		workflowv1.CommandPause, workflowv1.CommandResume, workflowv1.CommandTrigger, workflowv1.CommandUpdate, "explode",
	})
	for i := range rapid.IntRange(0, 8).Draw(rt, "deeds") {
		s.deeds = append(s.deeds, &deed{
			at:       ms("at").Add(time.Duration(i+1) * time.Microsecond), // no two at once
			name:     names.Draw(rt, "name"),
			asUpdate: rapid.Bool().Draw(rt, "as update"),
			startIn:  time.Duration(rapid.IntRange(0, 20).Draw(rt, "start in")) * time.Second,
		})
	}
	return s
}

// live runs the action to its end, which is a delete if nothing else.
func (s *saga) live() *gnomonv1.Status {
	st, clock := state(s.spec), accepted
	for {
		w := newWorld(s.t, func(w *world) { w.clock = clock })
		w.take, w.perform = s.take, s.perform
		for i, d := range s.deeds {
			if !d.done {
				w.at(d.at, func() { s.do(w, i, d) })
			}
		}
		w.at(later(s.handOver, clock), func() { w.env.SetContinueAsNewSuggested(true) })
		w.at(start.Add(80*time.Second), func() { w.signal(workflowv1.CommandCancel) })
		err := w.run(st)
		s.attempts = append(s.attempts, w.attempts...)
		if err == nil {
			end := &gnomonv1.Status{}
			require.NoError(s.t, w.env.GetWorkflowResult(end))
			row, ok := w.rows.Row("a")
			require.True(s.t, ok)
			require.True(s.t, row.Tombstone)
			require.Equal(s.t, end.String(), row.Action.GetStatus().String())
			return end
		}
		st, clock = next(s.t, err), w.now()
		s.handOver = clock.Add(25 * time.Second)
		s.stood = append(s.stood, seen{clock.Add(-1), st.GetMeta().GetGuid(), st.GetPaused()})
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b.Add(time.Nanosecond)
}

func (s *saga) do(w *world, i int, d *deed) {
	d.done = true
	c := &workflowv1.Command{Id: fmt.Sprint(i)}
	if d.name == workflowv1.CommandUpdate {
		c = update(startingAt(s.spec, w.now().Add(d.startIn)), fmt.Sprintf("guid-%d", i+2))
	}
	if d.asUpdate && d.name != "explode" {
		w.update(d.name, c)
	} else {
		w.signalWith(true, d.name, c)
	}
	w.env.RegisterDelayedCallback(func() { s.look(w) }, 500*time.Nanosecond)
}

// look notes how the action stands. What was done before a run's first task is seen
// after it.
func (s *saga) look(w *world) {
	if _, err := w.standing(); err != nil {
		w.env.RegisterDelayedCallback(func() { s.look(w) }, time.Millisecond)
		return
	}
	a := w.action().GetAction()
	s.stood = append(s.stood, seen{w.now(), a.GetMeta().GetGuid(), a.GetStatus().GetState() == gnomonv1.Status_PAUSED})
}

func (s *saga) take(a *attempt) bool {
	if s.ends[int(s.begun.Load())%len(s.ends)] != "lost" {
		return false
	}
	s.begun.Add(1)
	a.lose(time.Second, a.left)
	return true
}

func (s *saga) perform(context.Context, performers.Request) error {
	switch s.ends[int(s.begun.Add(1)-1)%len(s.ends)] {
	case "failure":
		return errNo
	case "panic":
		panic("boom")
	default:
		return nil
	}
}

// disputedFor is how long after a command an attempt may have begun before it: while
// an attempt is handed over, the environment's clock goes on as the wall's does.
const disputedFor = 300 * time.Millisecond

// before is how the action stood when an attempt began, and whether a command came
// so close before it that either order is right.
func (s *saga) before(m made) (stood seen, disputed bool) {
	for _, one := range s.stood {
		if one.at.Before(m.at) {
			stood = one
		}
	}
	for _, d := range s.deeds {
		disputed = disputed || !m.at.Before(d.at) && m.at.Sub(d.at) < disputedFor
	}
	return stood, disputed
}

// Whatever is done to an action, whenever and by whichever way, however its attempts
// end and wherever its runs do: no attempt is of a spec that was replaced before it
// (M-43), none begins while the action is paused, none comes twice, none is lost
// from the counters (M-36 to M-39), the budget of an occurrence holds (M-23, M-30),
// and the row is that of the end (M-61).
func TestAnythingAtAnyTime(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		s := drawSaga(t, rt)
		st := s.live()
		made := map[string]int{}
		for _, m := range s.attempts {
			made[fmt.Sprint(m.key, "#", m.number)]++
			require.LessOrEqual(rt, m.number, s.retries+1)
			if stood, disputed := s.before(m); !disputed {
				require.Equal(rt, stood.guid, m.guid, "at %s", m.at)
				require.False(rt, stood.paused, "at %s", m.at)
			}
		}
		for key, n := range made {
			require.Equal(rt, 1, n, key)
		}
		// What a delete cut short was not reported: the attempts of the last occurrence.
		var acted uint64
		for _, m := range s.attempts {
			if m.guid == s.stood[len(s.stood)-1].guid && m.key != s.attempts[len(s.attempts)-1].key {
				acted++
			}
		}
		counted := st.GetSuccessfulAttemptsCounter() + st.GetFailedAttemptsCounter() + st.GetInterruptedAttemptsCounter()
		require.GreaterOrEqual(rt, counted, acted)
		if s.spec.GetSendPolicy().GetSendOncePolicy() != nil {
			require.LessOrEqual(rt, counted, uint64(s.retries)+1)
			require.LessOrEqual(rt, st.GetSuccessfulAttemptsCounter(), uint64(1))
		}
	})
}
