package workflows

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"go.temporal.io/sdk/workflow"
	"google.golang.org/protobuf/types/known/timestamppb"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
)

// handle answers who wants to visit the entity (G-34).
func (e *entityRun) handle() error {
	return workflow.SetQueryHandler(e.ctx, workflowv1.QueryCheck, func() (*gnomonv1.CheckEntityResponse, error) {
		return checkEntity(e.state), nil
	})
}

// checkEntity is the state as the facade answers it, but for the names of the stages that
// are still to be asked, which the workflow does not know: "*" stands for all that are
// not pending. Visiting is a stage whose visit is in its queue or under way.
func checkEntity(s *workflowv1.EntityState) *gnomonv1.CheckEntityResponse {
	r := &gnomonv1.CheckEntityResponse{}
	for _, p := range s.GetPending() {
		r.Pending = append(r.Pending, &gnomonv1.CheckEntityResponse_Pending{
			Stage: p.GetStage(), EnqueueTime: p.GetEnqueueTime(), Visiting: p.GetVisit() != 0, Background: p.GetBackground(),
			Failures: p.GetFailures(), Error: p.GetError(), NotBefore: p.GetNotBefore(),
		})
	}
	slices.SortStableFunc(r.GetPending(), func(a, b *gnomonv1.CheckEntityResponse_Pending) int {
		return compareTimes(a.GetEnqueueTime(), b.GetEnqueueTime())
	})
	for _, t := range s.GetTimers() {
		r.Timers = append(r.Timers, &gnomonv1.CheckEntityResponse_Timer{Stage: t.GetStage(), DueTime: t.GetDueTime()})
	}
	slices.SortStableFunc(r.GetTimers(), func(a, b *gnomonv1.CheckEntityResponse_Timer) int {
		return compareTimes(a.GetDueTime(), b.GetDueTime())
	})
	if s.GetAskedVersion() < s.GetVersion() {
		r.Asking = []string{"*"}
	} else {
		r.Asking = slices.Clone(s.GetAskAgain())
	}
	return r
}

func compareTimes(a, b *timestamppb.Timestamp) int { return a.AsTime().Compare(b.AsTime()) }

func askSummary(in *workflowv1.AskInput) string {
	if len(in.GetOnly()) > 0 {
		return fmt.Sprintf("ask about version %d again: %s", in.GetVersion(), brief(in.GetOnly()))
	}
	return fmt.Sprintf("ask about version %d", in.GetVersion())
}

// brief names some.
func brief(names []string) string {
	const shown = 5
	if len(names) > shown {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:shown], ", "), len(names)-shown)
	}
	return strings.Join(names, ", ")
}

// maxStagesShown bounds what a person reads in the Web UI.
const maxStagesShown = 50

// entityDetails is the state as markdown, for the Web UI.
func entityDetails(s *workflowv1.EntityState) string {
	var b strings.Builder
	view := checkEntity(s)
	fmt.Fprintf(&b, "**%s %s**: version %d", cell(s.GetType()), cell(s.GetId()), s.GetVersion())
	if len(view.GetAsking()) > 0 {
		fmt.Fprintf(&b, "; to be asked: %s", cell(brief(view.GetAsking())))
	}
	if s.GetDeferredUntil() != nil {
		fmt.Fprintf(&b, "; %d changes by stages in a row, nobody is asked before %s", s.GetCascade(), moment(s.GetDeferredUntil()))
	}
	if s.GetPublishOwed() {
		b.WriteString("; to be published")
	}
	b.WriteString("\n")
	if len(view.GetPending()) > 0 {
		b.WriteString("\n| stage | pending since | | failures | not before |\n|---|---|---|---|---|\n")
	}
	for i, p := range view.GetPending() {
		if i == maxStagesShown {
			fmt.Fprintf(&b, "| %d more | | | | |\n", len(view.GetPending())-i)
			break
		}
		how, failures, notBefore := "waits", "", ""
		if p.GetVisiting() {
			how = "sent"
		}
		if p.GetBackground() {
			how += ", in the background"
		}
		if p.GetFailures() > 0 {
			failures = fmt.Sprintf("%d, the last: %s", p.GetFailures(), cell(p.GetError()))
			notBefore = moment(p.GetNotBefore())
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", cell(p.GetStage()), moment(p.GetEnqueueTime()), how, failures, notBefore)
	}
	if len(view.GetTimers()) > 0 {
		b.WriteString("\n| stage | timer |\n|---|---|\n")
	}
	for i, t := range view.GetTimers() {
		if i == maxStagesShown {
			fmt.Fprintf(&b, "| %d more | |\n", len(view.GetTimers())-i)
			break
		}
		fmt.Fprintf(&b, "| %s | %s |\n", cell(t.GetStage()), moment(t.GetDueTime()))
	}
	return b.String()
}

func moment(t *timestamppb.Timestamp) string { return t.AsTime().Format(time.RFC3339) }
