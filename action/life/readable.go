package life

import (
	"fmt"
	"strconv"
	"strings"

	"google.golang.org/protobuf/types/known/timestamppb"

	"gnomon/action"
	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
)

// inCell makes a text fit a cell of a markdown table.
var inCell = strings.NewReplacer("|", `\|`, "\n", " ")

// Details is the state as a short markdown table. It says again what is performed
// and when: what the Web UI shows of a run's start stays that of its first spec.
func Details(s *workflowv1.ActionState) string {
	st := s.GetStatus()
	var b strings.Builder
	b.WriteString("| Status | |\n|---|---|\n")
	row := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "| %s | %s |\n", name, inCell.Replace(value))
		}
	}
	row("Action", action.Summary(s.GetSpec().GetAction()))
	row("Schedule", schedule(s.GetSpec()))
	row("State", st.GetState().String())
	// The attempts of an occurrence count for themselves and report at its end; until
	// then the next run and the counters here are those before it.
	before := ""
	if s.GetPerforming() != 0 {
		before = ", before this occurrence"
	} else {
		row("Next run", clock(st.GetScheduledAt()))
	}
	if o := s.GetOccurrence(); o != nil {
		row("Occurrence", clock(o.GetDue()))
	}
	row("Succeeded / failed / interrupted"+before, fmt.Sprintf("%d / %d / %d", st.GetSuccessfulAttemptsCounter(),
		st.GetFailedAttemptsCounter(), st.GetInterruptedAttemptsCounter()))
	row("Failures in a row"+before, strconv.FormatUint(st.GetConsecutiveFailuresCounter(), 10))
	if last := st.GetLastAttemptStatus(); last != nil {
		row("Last attempt", fmt.Sprintf("%s %s %s", clock(last.GetFinishTime()), last.GetOutcome(), last.GetError()))
	}
	for _, c := range st.GetConditions() {
		row(c.GetType(), fmt.Sprintf("%s %s", c.GetStatus(), c.GetMessage()))
	}
	row("Guid", s.GetMeta().GetGuid())
	if s.GetPerforming() != 0 {
		b.WriteString("\nAttempts are under way: see the pending activity for their number and last failure.\n")
	}
	return b.String()
}

// StaticSummary is the one line the Web UI shows for a run.
func StaticSummary(a *gnomonv1.ScheduledAction) string {
	return action.Summary(a.GetSpec().GetAction())
}

// StaticDetails is what the Web UI shows of the spec below StaticSummary: no payload and
// no header. It is kept for as long as the action waits, so it says nothing twice: of an
// action that is performed once, without retries and deadline, there is only the time,
// which the timer's summary and the current details say. Then it is empty.
func StaticDetails(a *gnomonv1.ScheduledAction) string {
	spec := a.GetSpec()
	retry := action.RetryPolicy(spec)
	if spec.GetSendPolicy().GetSendOncePolicy() != nil && spec.GetSendPolicy().GetDeadline() == nil && retry.GetMaxRetries() == 0 {
		return ""
	}
	text := schedule(spec)
	if retry.GetMaxRetries() > 0 {
		text += fmt.Sprintf(". Retries: %d, %s to %s apart.",
			retry.GetMaxRetries(), retry.GetMinRestartPeriod().AsDuration(), retry.GetMaxRestartPeriod().AsDuration())
	}
	return text
}

// schedule says when a spec is performed, as a part of a sentence.
func schedule(spec *gnomonv1.Spec) string {
	start, when := "once,", ""
	switch p := spec.GetSendPolicy().GetPolicy().(type) {
	case *gnomonv1.SendPolicy_SendPeriodicallyPolicy:
		start = "first due"
		when = fmt.Sprintf(", then every %s", p.SendPeriodicallyPolicy.GetPeriod().AsDuration())
	case *gnomonv1.SendPolicy_SendByCalendarPolicy:
		// The first match comes at or after start_at.
		start = "from"
		when = fmt.Sprintf(", by the calendar `%s` %s", p.SendByCalendarPolicy.GetCron(), p.SendByCalendarPolicy.GetTimeZone())
	}
	text := start + " " + clock(spec.GetStartPolicy().GetStartAt()) + when
	if d := spec.GetSendPolicy().GetDeadline(); d != nil {
		text += ", until " + clock(d)
	}
	return text
}

func clock(t *timestamppb.Timestamp) string {
	if t == nil {
		return ""
	}
	return t.AsTime().Format("2006-01-02 15:04:05.999 UTC")
}
