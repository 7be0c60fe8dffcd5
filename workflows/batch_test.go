package workflows_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/batch"
	"gnomon/changes"
	"gnomon/notices"
	"gnomon/store/faulty"
)

var errDown = errors.New("something does not answer")

// V-01, V-02, V-04, V-05: what was accepted is PENDING, and applied at its time with
// nobody there, every change once and in order.
func TestBatchSleepsToItsTime(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	var timers []time.Duration
	o.env.SetOnTimerScheduledListener(func(_ string, d time.Duration) { timers = append(timers, d) })
	o.is(accepted.Add(time.Second), pending)
	o.is(start.Add(-time.Millisecond), pending)
	st := o.finish(o.stage(3))
	require.Equal(t, complete, st.GetState())
	require.Equal(t, []int{0, 1, 2}, o.indexes())
	for _, d := range o.done {
		require.Zero(t, d.at)
		require.False(t, d.resumed)
	}
	require.Equal(t, []time.Duration{start.Sub(accepted)}, timers)
	require.Equal(t, [][]int{{0, 1, 2}}, o.judged, "V-07")
	require.EqualValues(t, 3, st.GetCompleteChanges())
	require.EqualValues(t, 1, st.GetRound())
	require.Empty(t, o.told, "V-17: nobody asked for it")
}

// V-05: a batch whose time came while no worker ran is applied then.
func TestOverdueBatch(t *testing.T) {
	t.Parallel()
	o := newOffice(t, func(o *office) { o.clock = start.Add(time.Hour) })
	require.Equal(t, complete, o.finish(o.stage(1)).GetState())
	require.Equal(t, time.Hour, o.done[0].at)
}

// V-10, V-12: the outcome is that of the single changes, and a rejection is final.
func TestBatchOutcomes(t *testing.T) {
	t.Parallel()
	const done, rejected = gnomonv1.ChangeStatus_COMPLETE, gnomonv1.ChangeStatus_FAILED
	for name, c := range map[string]struct {
		rejects map[int]bool
		want    gnomonv1.BatchStatus_State
		changes []gnomonv1.ChangeStatus_State
		event   string
	}{
		"none is rejected": {nil, complete, []gnomonv1.ChangeStatus_State{done, done, done}, notices.BatchComplete},
		"one is rejected": {
			map[int]bool{1: true},
			gnomonv1.BatchStatus_PARTIAL_FAILURE,
			[]gnomonv1.ChangeStatus_State{done, rejected, done},
			notices.BatchPartialFailure,
		},
		"all are rejected": {
			map[int]bool{0: true, 1: true, 2: true},
			gnomonv1.BatchStatus_FAILED,
			[]gnomonv1.ChangeStatus_State{rejected, rejected, rejected},
			notices.BatchFailed,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOffice(t, func(o *office) {
				o.subscribed = []string{notices.BatchComplete, notices.BatchPartialFailure, notices.BatchFailed}
			})
			o.apply = func(index int, _ changes.Turn) error {
				if c.rejects[index] {
					return changes.Reject(errors.New("no such record"))
				}
				return nil
			}
			st := o.finish(o.stage(3))
			require.Equal(t, c.want, st.GetState())
			require.Equal(t, c.changes, o.states())
			require.Equal(t, []int{0, 1, 2}, o.indexes(), "each once")
			require.EqualValues(t, len(c.rejects), st.GetFailedChanges())
			require.EqualValues(t, 3-len(c.rejects), st.GetCompleteChanges())
			require.Equal(t, []string{c.event}, o.events(), "V-17: opted in")
		})
	}
}

// V-11, V-12, V-16: what does not answer is tried again, later and later; what was
// finished is neither validated nor applied again.
func TestInfrastructureIsTriedAgain(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	failures := 0
	o.apply = func(index int, _ changes.Turn) error {
		switch {
		case index == 0:
			return changes.Reject(errors.New("no such record"))
		case index == 2 && failures < 3:
			failures++
			return errDown
		default:
			return nil
		}
	}
	o.is(start.Add(500*time.Millisecond), processing)
	st := o.finish(o.stage(4))
	require.Equal(t, gnomonv1.BatchStatus_PARTIAL_FAILURE, st.GetState())
	require.Equal(t, []time.Duration{0, time.Second, 3 * time.Second, 7 * time.Second}, o.attempts)
	require.Equal(t, []int{0, 1, 2, 2, 2, 2, 3}, o.indexes())
	require.Equal(t, [][]int{{0, 1, 2, 3}, {2, 3}, {2, 3}, {2, 3}}, o.judged)
	require.True(t, o.done[3].resumed)
	require.Equal(t, o.done[2].key, o.done[5].key)
	require.EqualValues(t, 4, o.row().Batch.GetStatus().GetAttempts())
	require.EqualValues(t, 4, o.row().Batch.GetChanges()[2].GetStatus().GetAttempts())
}

// A pause that the other side asked for is kept.
func TestRetryAfterIsKept(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	failed := false
	o.apply = func(int, changes.Turn) error {
		if failed {
			return nil
		}
		failed = true
		return changes.Later(errDown, 2*time.Minute)
	}
	require.Equal(t, complete, o.finish(o.stage(1)).GetState())
	require.Equal(t, []time.Duration{0, 2 * time.Minute}, o.attempts)
}

// V-11, V-14, V-16: a worker that is lost in the middle of a change is followed by one
// that goes on with that change, knowing that it may have been made.
func TestBatchWorkerLost(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	lost := false
	o.apply = func(index int, _ changes.Turn) error {
		if index == 1 && !lost {
			lost = true
			vanish()
		}
		return nil
	}
	require.Equal(t, complete, o.finish(o.stage(3)).GetState())
	require.Equal(t, []int{0, 1, 1, 2}, o.indexes())
	require.True(t, o.done[2].resumed)
	require.Equal(t, o.done[1].key, o.done[2].key)
	require.Equal(t, [][]int{{0, 1, 2}, {1, 2}}, o.judged)
	require.EqualValues(t, 2, o.row().Batch.GetStatus().GetAttempts())
}

// V-12: the store fails after each of its writes; what it had taken stands.
func TestBatchStoreFails(t *testing.T) {
	t.Parallel()
	for _, method := range []faulty.Method{
		faulty.AcceptBatch, faulty.TakeTurn, faulty.BeginChange, faulty.RecordChange, faulty.PutBatch,
	} {
		for name, faults := range map[string]faulty.Faults{
			"fails":           {Fail: 1, Only: []faulty.Method{method}},
			"loses its reply": {LoseReply: 1, Only: []faulty.Method{method}},
		} {
			t.Run(string(method)+" "+name, func(t *testing.T) {
				t.Parallel()
				o := newOffice(t)
				s := o.stage(2)
				o.rows.Set(faults)
				o.at(start.Add(5*time.Second), func() { o.rows.Set(faulty.Faults{}) })
				require.Equal(t, complete, o.finish(s).GetState())
				require.NotZero(t, o.rows.Injected(method))
				for _, d := range o.done {
					if d.index == 1 && name == "fails" && method != faulty.PutBatch {
						require.GreaterOrEqual(t, d.at, 5*time.Second, "the second waits until the first is recorded")
					}
				}
				for _, c := range o.row().Batch.GetChanges() {
					require.Equal(t, gnomonv1.ChangeStatus_COMPLETE, c.GetStatus().GetState())
				}
			})
		}
	}
}

// V-19: once and a hundred times again, then a person has it; what was finished stays so.
func TestRetriesSpent(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.apply = func(index int, _ changes.Turn) error {
		if index == 1 {
			return errDown
		}
		return nil
	}
	// Seconds that double up to a minute.
	end := start.Add((1 + 2 + 4 + 8 + 16 + 32 + 94*60) * time.Second)
	o.is(end.Add(-time.Second), processing)
	o.is(end.Add(time.Second), inReview)
	o.at(end.Add(2*time.Second), func() {
		require.Len(t, o.attempts, 101)
		b := o.row().Batch
		require.Len(t, b.GetStatus().GetProblems(), 1)
		require.Equal(t, batch.CodeRetriesExhausted, b.GetStatus().GetProblems()[0].GetCode())
		require.Contains(t, b.GetStatus().GetProblems()[0].GetMessage(), errDown.Error())
		require.Equal(t, []gnomonv1.ChangeStatus_State{gnomonv1.ChangeStatus_COMPLETE, gnomonv1.ChangeStatus_PENDING}, o.states())
		require.EqualValues(t, 1, b.GetStatus().GetPendingChanges())
		require.Equal(t, []string{notices.ScheduledChangeFailed}, o.events())
		o.apply = func(int, changes.Turn) error { return nil }
		o.update("review", retry())
	})
	st := o.finish(o.stage(2))
	require.Equal(t, complete, st.GetState())
	require.EqualValues(t, 2, st.GetRound())
	require.Equal(t, 1, o.indexes()[len(o.done)-1])
	require.Equal(t, 0, o.indexes()[0])
	require.NotContains(t, o.indexes()[1:], 0, "V-12")
}

// V-19: workers that are lost every time are counted too, and the reason says so.
func TestWorkersAlwaysLost(t *testing.T) {
	t.Parallel()
	o := newOffice(t, func(o *office) { o.options.BatchAttempts = 3 })
	o.apply = func(int, changes.Turn) error { vanish(); return nil }
	o.is(start.Add(4*time.Second), inReview)
	o.at(start.Add(5*time.Second), func() {
		require.Contains(t, o.row().Batch.GetStatus().GetMessage(), "no heartbeat came in time")
		o.update("review", abandon())
	})
	require.Equal(t, ended, o.finish(o.stage(1)).GetState())
	require.Equal(t, []time.Duration{0, time.Second, 3 * time.Second}, o.attempts)
}

// V-19: if the last attempt has ended the round and only its report was lost, that
// stands.
func TestLastReportLost(t *testing.T) {
	t.Parallel()
	o := newOffice(t, func(o *office) { o.options.BatchAttempts = 1 })
	s := o.stage(1)
	o.at(start.Add(-time.Second), func() {
		o.rows.Set(faulty.Faults{LoseReply: 1, Only: []faulty.Method{faulty.PutBatch}})
	})
	o.at(start.Add(time.Minute), func() { o.rows.Set(faulty.Faults{}) })
	require.Equal(t, complete, o.finish(s).GetState())
	require.Equal(t, []int{0}, o.indexes())
	require.Empty(t, o.told)
}

// V-04: a workflow without contents is no batch, and neither is one whose id another has.
func TestNoSuchBatch(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(o *office){
		"nothing is stored": func(*office) {},
		"another has the id": func(o *office) {
			b := wantedBatch(1)
			b.Uid = "another"
			require.NoError(o.t, o.rows.StageBatch(o.t.Context(), b, ""))
			_, err := o.rows.AcceptBatch(o.t.Context(), "b", "another")
			require.NoError(o.t, err)
			o.stage(1)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOffice(t)
			prepare(o)
			var failed *temporal.ApplicationError
			require.ErrorAs(t, o.run(batch.New(wantedBatch(1), accepted, "")), &failed)
			require.Equal(t, "NotAccepted", failed.Type())
			require.Empty(t, o.done)
		})
	}
}
