package workflows_test

import (
	"time"

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
	until    = actiontest.Until
	wanted   = actiontest.Wanted
)

func startingAt(s *gnomonv1.Spec, at time.Time) *gnomonv1.Spec {
	s.StartPolicy.StartAt = timestamppb.New(at)
	return s
}

// state is that of an action just accepted by a facade.
func state(s *gnomonv1.Spec) *workflowv1.ActionState {
	return life.New(wanted(s, "guid-1"), accepted, "request-1")
}

// update is the command that replaces the spec.
func update(s *gnomonv1.Spec, guid string) *workflowv1.Command {
	return &workflowv1.Command{Action: wanted(s, guid)}
}
