package entity

import (
	"slices"
	"time"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
)

// question is what is to be asked now, or nil: all stages about a new version, but for
// those pending already, which will see it (G-27), and those that have seen it (G-23);
// or single ones that visited while the version went on. Stages that wait in the
// background are asked too, so that a real change brings them forward (G-31). There is
// one question at a time, and none while too many changes went in circles (G-28).
func question(s *workflowv1.EntityState, now time.Time) *workflowv1.AskInput {
	if s.GetAsking() || now.Before(s.GetDeferredUntil().AsTime()) {
		return nil
	}
	in := &workflowv1.AskInput{Type: s.GetType(), Id: s.GetId(), Version: s.GetVersion()}
	switch {
	case s.GetAskedVersion() < s.GetVersion():
		in.Except = slices.Clone(s.GetSeen())
		for _, p := range s.GetPending() {
			if !p.GetBackground() {
				in.Except = append(in.Except, p.GetStage())
			}
		}
		in.Except = union(in.GetExcept(), nil)
		if !s.GetAllFields() {
			in.Fields = slices.Clone(s.GetChangedFields())
		}
		// Whoever visited while the version went on has missed more than these fields, unless
		// it will visit.
		in.Also = slices.DeleteFunc(s.GetAskAgain(), func(stage string) bool { return slices.Contains(in.GetExcept(), stage) })
		s.ChangedFields, s.AllFields, s.AskAgain = nil, false, nil
	case len(s.GetAskAgain()) > 0:
		in.Only, s.AskAgain = s.GetAskAgain(), nil
	default:
		return nil
	}
	s.Asking, s.DeferredUntil = true, nil
	return in
}

// Answered takes the answers to a question (G-15): a stage that wants to visit is
// enqueued, one that names a moment has its timer armed instead of what it was, and one
// that said no is left alone, its timer too.
//
// The question was about the version that was known, though the entity may have been
// newer when it was answered: what changed from then on is asked about anew, since
// stages without an interest in the fields known then were not asked.
func Answered(s *workflowv1.EntityState, in *workflowv1.AskInput, r *workflowv1.AskResult, now time.Time) {
	s.Asking = false
	if r.GetGone() {
		gone(s, in.GetVersion())
		return
	}
	if len(in.GetOnly()) == 0 {
		s.AskedVersion = max(s.GetAskedVersion(), in.GetVersion())
	}
	if r.GetVersion() > s.GetVersion() {
		grow(s, r.GetVersion(), nil)
	}
	for _, a := range r.GetAnswers() {
		switch {
		case a.GetVisit():
			Request(s, a.GetStage(), gnomonv1.ProcessRequest_CHANGE, false, now)
		case a.GetTimer() != nil:
			Arm(s, a.GetStage(), a.GetTimer())
		}
	}
}

// Withdrawn takes that a question was not answered and will not be: it is to be put
// again, with what changed meanwhile.
func Withdrawn(s *workflowv1.EntityState, in *workflowv1.AskInput) {
	s.Asking = false
	if len(in.GetOnly()) > 0 {
		s.AskAgain = union(s.GetAskAgain(), in.GetOnly())
		return
	}
	// Not asked as they were pending, or had seen the version of the question. Those that
	// have visited since have missed what their visits did not see, which is known of them.
	s.AskAgain = union(s.GetAskAgain(), in.GetAlso())
	note(s, in.GetFields())
}
