package workflows_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/changes"
)

// move is a command by its name.
func move(to time.Time) *workflowv1.BatchCommand {
	return &workflowv1.BatchCommand{ScheduledAt: timestamppb.New(to)}
}

// send gives a command as an update or as a signal.
func (o *office) send(how, name string, c *workflowv1.BatchCommand) {
	if how == "update" {
		o.update(name, c)
		return
	}
	o.signal(true, name, c)
}

// V-20: a pending batch is cancelled, in every way there is.
func TestCancelPending(t *testing.T) {
	t.Parallel()
	for how, cancel := range map[string]func(*office){
		"update":   func(o *office) { o.update("cancel", &workflowv1.BatchCommand{Comment: "no"}) },
		"signal":   func(o *office) { o.signal(true, "cancel", nil) },
		"Temporal": func(o *office) { o.env.CancelWorkflow() },
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			o := newOffice(t)
			o.at(start.Add(-time.Second), func() { cancel(o) })
			st := o.finish(o.stage(2))
			require.Equal(t, ended, st.GetState())
			require.Equal(t, "cancel", st.GetLastDecision().GetDecision())
			require.Zero(t, st.GetRound())
			require.Empty(t, o.attempts)
			require.True(t, st.GetFinishTime().AsTime().Equal(start.Add(-time.Second)))
		})
	}
}

// V-01, V-20: a pending batch gets another time, earlier or later, and is applied then.
func TestReschedulePending(t *testing.T) {
	t.Parallel()
	for name, by := range map[string]time.Duration{"earlier": -5 * time.Second, "later": time.Hour} {
		for _, how := range []string{"update", "signal"} {
			t.Run(name+", "+how, func(t *testing.T) {
				t.Parallel()
				o := newOffice(t)
				o.at(start.Add(-10*time.Second), func() { o.send(how, "reschedule", move(start.Add(by))) })
				o.is(start.Add(by-time.Millisecond), pending)
				require.Equal(t, complete, o.finish(o.stage(1)).GetState())
				require.Len(t, o.done, 1)
				require.Equal(t, by, o.done[0].at)
				require.True(t, o.row().Batch.GetScheduledAt().AsTime().Equal(start.Add(by)))
			})
		}
	}
}

// V-20: what comes in the very instant of the batch's time. A signal in the task of the
// timer was accepted before the batch was taken up, and counts; an update is either
// applied, and nothing is processed, or refused, and everything is.
func TestCommandsAtTheInstant(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]*workflowv1.BatchCommand{"cancel": {}, "reschedule": move(start.Add(time.Hour))} {
		for _, how := range []string{"update", "signal", "signal, then the timer"} {
			t.Run(name+", "+how, func(t *testing.T) {
				t.Parallel()
				o := newOffice(t)
				var got *verdict
				switch how {
				case "update":
					o.at(start, func() { got = o.update(name, c) })
				case "signal":
					o.at(start, func() { o.signal(true, name, c) })
				default: // the task of the timer finds it
					o.at(start.Add(-time.Millisecond), func() { o.signal(false, name, c) })
				}
				st := o.finish(o.stage(1))
				taken := st.GetLastDecision().GetDecision() == name
				if got != nil {
					require.Equal(t, taken, got.refused == "", "%+v", got)
				}
				if how == "signal, then the timer" {
					require.True(t, taken, "the signal came first")
				}
				switch {
				case !taken:
					require.Equal(t, complete, st.GetState())
					require.Len(t, o.done, 1)
				case name == "cancel":
					require.Equal(t, ended, st.GetState())
					require.Empty(t, o.attempts)
				default:
					require.Equal(t, complete, st.GetState())
					require.Equal(t, time.Hour, o.done[0].at)
				}
			})
		}
	}
}

// V-20: once processing has begun nobody may change the batch: updates are refused with
// the state, signals and Temporal's cancellation are dropped and recorded, and the batch
// is applied whole.
func TestCommandsWhileProcessing(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.apply = func(index int, _ changes.Turn) error {
		if index == 1 && o.now().Before(start.Add(time.Minute)) {
			return errDown
		}
		return nil
	}
	var refused []*verdict
	o.at(start.Add(4*time.Second), func() {
		before := o.head()
		refused = append(refused, o.update("cancel", &workflowv1.BatchCommand{}), o.update("reschedule", move(start.Add(time.Hour))),
			o.update("review", retry()), o.update("review", abandon()), o.update("review", postpone(start.Add(time.Hour))))
		require.True(t, proto.Equal(before, o.head()), "nothing has changed")
	})
	o.at(start.Add(5*time.Second), func() { o.signal(true, "cancel", nil) })
	o.at(start.Add(6*time.Second), o.env.CancelWorkflow)
	o.at(start.Add(6500*time.Millisecond), func() {
		conditions := o.head().GetStatus().GetConditions()
		require.Len(t, conditions, 1)
		require.Contains(t, conditions[0].GetMessage(), `signal "cancel" dropped: the batch is PROCESSING`)
	})
	st := o.finish(o.stage(3))
	require.Equal(t, complete, st.GetState())
	require.Len(t, refused, 5)
	for _, v := range refused {
		require.Equal(t, workflowv1.RefusedState, v.refused)
		require.Equal(t, "PROCESSING", v.state)
	}
	require.Nil(t, st.GetLastDecision())
	require.Equal(t, "CommandsAccepted", st.GetConditions()[0].GetType())
	require.Len(t, o.row().Batch.GetStatus().GetConditions(), 1, "stored once the round is over")
}

// V-18: in review only a review is accepted, and before it none.
func TestIllegalMoves(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.invalid(start.Add(time.Hour), gnomonv1.Problem_HARD)
	illegal := map[gnomonv1.BatchStatus_State][]*verdict{}
	o.at(start.Add(-time.Second), func() {
		for _, c := range []*workflowv1.BatchCommand{retry(), abandon(), postpone(start.Add(time.Hour))} {
			illegal[pending] = append(illegal[pending], o.update("review", c))
		}
	})
	o.at(start.Add(time.Second), func() {
		illegal[inReview] = append(illegal[inReview], o.update("cancel", &workflowv1.BatchCommand{}), o.update("reschedule", move(start.Add(time.Hour))))
		require.Equal(t, inReview, o.head().GetStatus().GetState())
	})
	o.at(start.Add(2*time.Hour), func() { o.update("review", retry()) })
	require.Equal(t, complete, o.finish(o.stage(1)).GetState())
	require.Len(t, illegal[pending], 3)
	require.Len(t, illegal[inReview], 2)
	for state, all := range illegal {
		for _, v := range all {
			require.Equal(t, workflowv1.RefusedState, v.refused)
			require.Equal(t, state.String(), v.state)
		}
	}
}

// Signals that the workflow finds in one task are applied in the order in which they were
// accepted.
func TestBatchSignalsInTheirOrder(t *testing.T) {
	t.Parallel()
	later := move(start.Add(time.Hour))
	for name, c := range map[string]struct {
		names []string
		want  gnomonv1.BatchStatus_State
		moved bool
	}{
		"reschedule, cancel": {[]string{"reschedule", "cancel"}, ended, true},
		"cancel, reschedule": {[]string{"cancel", "reschedule"}, ended, false},
		"review, reschedule": {[]string{"review", "reschedule"}, complete, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOffice(t)
			o.at(start.Add(-time.Minute), func() {
				for i, command := range c.names {
					sent := map[string]*workflowv1.BatchCommand{"reschedule": later, "cancel": {}, "review": retry()}[command]
					o.signal(i == len(c.names)-1, command, sent)
				}
			})
			require.Equal(t, c.want, o.finish(o.stage(1)).GetState())
			require.Equal(t, c.moved, o.row().Batch.GetScheduledAt().AsTime().After(start))
		})
	}
}

// P-02: a signal that cannot be read or that nobody knows changes nothing, shows, and
// never fails the run.
func TestBatchMalformedSignals(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		signal  string
		payload any
		message string
	}{
		"text":             {"cancel", "secret", "is not the JSON of gnomon.workflow.v1.BatchCommand"},
		"an unknown field": {"cancel", map[string]any{"secret": 1}, "is not the JSON"},
		"an unknown name":  {"explode", nil, "no command is called"},
		"no time":          {"reschedule", nil, "scheduled_at"},
		"the past":         {"reschedule", move(accepted), "scheduled_at"},
		"no decision":      {"review", nil, "decision must be"},
		"a long comment":   {"cancel", &workflowv1.BatchCommand{Comment: strings.Repeat("x", 2000)}, "comment"},
		"bad progress":     {"progress", "secret", "is not the JSON of gnomon.workflow.v1.BatchProgress"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOffice(t)
			o.at(accepted.Add(time.Second), func() { o.signal(true, c.signal, c.payload) })
			o.at(accepted.Add(2*time.Second), func() {
				for _, st := range []*gnomonv1.BatchStatus{o.head().GetStatus(), o.row().Batch.GetStatus()} {
					require.Equal(t, pending, st.GetState())
					require.Len(t, st.GetConditions(), 1)
					require.Equal(t, "CommandsAccepted", st.GetConditions()[0].GetType())
					require.Contains(t, st.GetConditions()[0].GetMessage(), c.message)
					require.NotContains(t, st.GetConditions()[0].GetMessage(), "secret")
				}
			})
			require.Equal(t, complete, o.finish(o.stage(1)).GetState())
			require.Equal(t, time.Duration(0), o.done[0].at)
		})
	}
}

// P-02: an id is applied once, as an update, a signal or both; etags are compared; an
// update that is malformed is refused.
func TestBatchCommandsOnce(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	c := move(start.Add(time.Hour))
	c.Id, c.Digest = "c-1", "d"
	reused := move(start.Add(2 * time.Hour))
	reused.Id, reused.Digest = "c-1", "e"
	var first, again, other, stale, malformed *verdict
	o.at(accepted.Add(time.Second), func() { first = o.update("reschedule", c) })
	o.at(accepted.Add(2*time.Second), func() { o.signal(true, "reschedule", c) })
	o.at(accepted.Add(3*time.Second), func() {
		again, other = o.update("reschedule", c), o.update("reschedule", reused)
		stale, malformed = o.update("cancel", &workflowv1.BatchCommand{Etag: "01234567-0"}), o.update("reschedule", move(accepted))
	})
	o.at(start, func() { require.Equal(t, first.head.GetRevision(), o.head().GetRevision()) })
	require.Equal(t, complete, o.finish(o.stage(1)).GetState())
	require.Equal(t, time.Hour, o.done[0].at)
	require.Equal(t, first.head.GetRevision(), again.head.GetRevision())
	require.Equal(t, workflowv1.RefusedReused, other.refused)
	require.Equal(t, workflowv1.RefusedEtag, stale.refused)
	require.Equal(t, workflowv1.RefusedMalformed, malformed.refused)
}

// V-20: what was left as a signal while no worker ran comes before the time that passed
// meanwhile.
func TestLeftCommandsComeFirst(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		command *workflowv1.BatchCommand
		want    gnomonv1.BatchStatus_State
		at      time.Duration
	}{
		"cancel": {&workflowv1.BatchCommand{AcceptTime: timestamppb.New(accepted)}, ended, 0},
		"reschedule": {
			&workflowv1.BatchCommand{AcceptTime: timestamppb.New(accepted), ScheduledAt: timestamppb.New(start.Add(2 * time.Hour))},
			complete, 2 * time.Hour,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOffice(t, func(o *office) { o.clock = start.Add(time.Hour) })
			o.at(o.clock, func() { o.signal(false, name, c.command) })
			require.Equal(t, c.want, o.finish(o.stage(1)).GetState())
			if c.want == ended {
				require.Empty(t, o.attempts)
				return
			}
			require.Equal(t, c.at, o.done[0].at)
		})
	}
}
