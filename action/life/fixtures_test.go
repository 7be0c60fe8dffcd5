package life_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/timestamppb"

	"gnomon/action/actiontest"
	"gnomon/action/life"
	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
)

// The actions of these tests.
var (
	start    = actiontest.Start
	accepted = actiontest.Accepted
	t1       = actiontest.T1
	once     = actiontest.Once
	periodic = actiontest.Periodic
	spec     = actiontest.Spec
	until    = actiontest.Until
	wanted   = actiontest.Wanted
)

// state is that of an action just accepted, in its first run.
func state(s *gnomonv1.Spec) *workflowv1.ActionState {
	st := life.New(wanted(s, "guid-1"), accepted, "request-1")
	st.Incarnation = timestamppb.New(accepted)
	return st
}

// begun is the state once its first occurrence has begun, at its time.
func begun(s *gnomonv1.Spec) (*workflowv1.ActionState, *workflowv1.PerformInput) {
	st := state(s)
	return st, life.Begin(st, st.GetStatus().GetScheduledAt().AsTime())
}

// progress is what an attempt starts from.
func progress(in *workflowv1.PerformInput) *workflowv1.Progress {
	return &workflowv1.Progress{Status: in.GetStatus(), Occurrence: in.GetOccurrence()}
}

func command(t *testing.T, s *workflowv1.ActionState, name string, c *workflowv1.Command, now time.Time) life.Effect {
	t.Helper()
	effect, err := life.Apply(s, name, c, now, "guid-minted")
	require.NoError(t, err)
	return effect
}

func attempt(t *testing.T, s *workflowv1.ActionState, at time.Time, e life.Ending) life.Verdict {
	t.Helper()
	in := life.Begin(s, at)
	p := progress(in)
	life.Start(s.GetSpec(), s.GetMeta(), p, life.Started{At: at})
	verdict := life.Settle(s.GetSpec(), s.GetMeta(), p, e)
	life.Adopt(s, p)
	return verdict
}

func failed(at time.Time) life.Ending {
	return life.Ending{Outcome: gnomonv1.AttemptStatus_FAILURE, At: at, Error: "no"}
}

func succeeded(at time.Time) life.Ending {
	return life.Ending{Outcome: gnomonv1.AttemptStatus_SUCCESS, At: at, Reply: "yes"}
}

func at(t *timestamppb.Timestamp) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.AsTime()
}
