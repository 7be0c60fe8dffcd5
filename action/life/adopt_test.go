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

// What attempts report does not undo what commands did meanwhile: a pause stands,
// and so does the record of a malformed signal.
func TestAdoptKeepsWhatCommandsDid(t *testing.T) {
	t.Parallel()
	s, in := begun(periodic(time.Minute, nil))
	command(t, s, workflowv1.CommandPause, &workflowv1.Command{}, start)
	life.Malformed(s, "nonsense", life.ErrMalformed, start)
	p := progress(in)
	life.Start(s.GetSpec(), s.GetMeta(), p, life.Started{At: start})
	life.Settle(s.GetSpec(), s.GetMeta(), p, succeeded(start))
	life.Adopt(s, p)
	require.Equal(t, gnomonv1.Status_PAUSED, s.GetStatus().GetState())
	require.EqualValues(t, 1, s.GetStatus().GetSuccessfulAttemptsCounter())
	require.Len(t, s.GetStatus().GetConditions(), 1)
	require.Zero(t, s.GetPerforming())
	require.Nil(t, s.GetOccurrence())
}

// The end of a once-action that was paused during its attempt is its end.
func TestAdoptOfAnEndWhilePaused(t *testing.T) {
	t.Parallel()
	s, in := begun(once(nil))
	command(t, s, workflowv1.CommandPause, &workflowv1.Command{}, start)
	p := progress(in)
	life.Settle(s.GetSpec(), s.GetMeta(), p, succeeded(start))
	life.Adopt(s, p)
	require.Equal(t, gnomonv1.Status_SUCCEEDED, s.GetStatus().GetState())
}

// M-38, M-55: a lost attempt becomes interrupted from the details it left, which
// hold what was counted before it.
func TestInterruptFromTheDetailsLeft(t *testing.T) {
	t.Parallel()
	s, in := begun(once(t1(9)))
	left := progress(proto.CloneOf(in))
	life.Settle(s.GetSpec(), s.GetMeta(), left, failed(start))
	life.Start(s.GetSpec(), s.GetMeta(), left, life.Started{At: start.Add(2 * time.Second), Worker: "w"})
	detected := start.Add(3 * time.Second)
	life.Interrupt(s, in, left, start, detected, "lost")
	st := s.GetStatus()
	require.EqualValues(t, 1, st.GetFailedAttemptsCounter())
	require.EqualValues(t, 1, st.GetInterruptedAttemptsCounter())
	require.EqualValues(t, 2, st.GetConsecutiveFailuresCounter())
	require.Nil(t, st.GetCurrentAttemptStatus())
	require.Equal(t, "w", st.GetLastAttemptStatus().GetWorker())
	require.Equal(t, "lost", st.GetLastAttemptStatus().GetError())
	require.Equal(t, detected, at(st.GetLastAttemptStatus().GetFinishTime()))
	require.Equal(t, start.Add(5*time.Second), at(s.GetOccurrence().GetNotBefore()), "3 s after its start")
	require.True(t, s.GetMirrorOwed())
	require.Zero(t, s.GetPerforming())
}

// M-27: an attempt that was lost before its first word began when it was to, so its
// retry need not wait from the moment the loss was noticed.
func TestInterruptWithoutDetailsCountsFromTheBegin(t *testing.T) {
	t.Parallel()
	for name, left := range map[string]*workflowv1.Progress{"none": nil, "empty": {}} {
		s, in := begun(once(t1(9)))
		life.Interrupt(s, in, left, start, start.Add(time.Second), "lost")
		require.EqualValues(t, 1, s.GetStatus().GetInterruptedAttemptsCounter(), name)
		require.Equal(t, start.Add(2*time.Second), at(s.GetOccurrence().GetNotBefore()), name)
		require.Equal(t, start, at(s.GetStatus().GetLastAttemptStatus().GetStartTime()), name)
	}
}

// The same for a retry by the server that was lost before its first word: it was to
// begin when the failed attempt before it said.
func TestInterruptOfARetryCountsFromItsTime(t *testing.T) {
	t.Parallel()
	s, in := begun(once(t1(9)))
	left := progress(proto.CloneOf(in))
	life.Start(s.GetSpec(), s.GetMeta(), left, life.Started{At: start})
	life.Settle(s.GetSpec(), s.GetMeta(), left, failed(start)) // the retry is due 2 s later
	life.Interrupt(s, in, left, start, start.Add(3*time.Second), "lost")
	require.Equal(t, start.Add(5*time.Second), at(s.GetOccurrence().GetNotBefore()))
}

// M-26: an interrupted last attempt ends the action without another run.
func TestInterruptOfTheLastAttempt(t *testing.T) {
	t.Parallel()
	s, in := begun(once(nil))
	life.Interrupt(s, in, nil, start, start.Add(10*time.Second), "lost")
	require.Equal(t, gnomonv1.Status_FAILED, s.GetStatus().GetState())
	require.EqualValues(t, 1, s.GetStatus().GetInterruptedAttemptsCounter())
	require.Equal(t, life.End, life.Next(s, start.Add(10*time.Second)).Step)
}

// A pause holds what an interruption would retry.
func TestInterruptWhilePaused(t *testing.T) {
	t.Parallel()
	s, in := begun(once(t1(9)))
	command(t, s, workflowv1.CommandPause, &workflowv1.Command{}, start)
	life.Interrupt(s, in, nil, start, start.Add(10*time.Second), "lost")
	require.Equal(t, gnomonv1.Status_PAUSED, s.GetStatus().GetState())
	require.Equal(t, life.Decision{Step: life.Wait}, life.Next(s, start.Add(time.Hour)))
	command(t, s, workflowv1.CommandResume, &workflowv1.Command{}, start.Add(time.Hour))
	require.Equal(t, gnomonv1.Status_RETRYING, s.GetStatus().GetState())
	require.Equal(t, life.Perform, life.Next(s, start.Add(time.Hour)).Step)
}
