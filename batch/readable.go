package batch

import (
	"fmt"
	"strings"
	"time"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
)

// StaticSummary is the title of a batch in Temporal's Web UI.
func StaticSummary(s *workflowv1.BatchState) string {
	return fmt.Sprintf("%d changes at %s", s.GetChanges(), s.GetHead().GetScheduledAt().AsTime().Format(time.RFC3339))
}

// StaticDetails says for people what the batch is, as it was accepted.
func StaticDetails(b *gnomonv1.Batch) string {
	lines := []string{fmt.Sprintf("%d changes", len(b.GetChanges()))}
	if b.GetComment() != "" {
		lines = append(lines, b.GetComment())
	}
	return strings.Join(lines, "\n\n")
}

// Details is the state as a table in Markdown. P is how far the round is, as its worker
// told last, or nil.
func Details(s *workflowv1.BatchState, p *workflowv1.BatchProgress) string {
	h, st := s.GetHead(), s.GetHead().GetStatus()
	var b strings.Builder
	row := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "| %s | %s |\n", name, strings.NewReplacer("|", `\|`, "\n", " ").Replace(value))
		}
	}
	b.WriteString("| | |\n|---|---|\n")
	row("state", st.GetState().String())
	row("scheduled at", h.GetScheduledAt().AsTime().Format(time.RFC3339))
	row("changes", fmt.Sprintf("%d", s.GetChanges()))
	complete, failed, pending := st.GetCompleteChanges(), st.GetFailedChanges(), st.GetPendingChanges()
	if ofRound(s, p) {
		complete, failed, pending = p.GetCompleteChanges(), p.GetFailedChanges(), p.GetPendingChanges()
	}
	if st.GetState() == gnomonv1.BatchStatus_PROCESSING {
		row("progress", fmt.Sprintf("%d of %d changes are finished; the pending activity tells where it is", complete+failed, s.GetChanges()))
	}
	if st.GetState() != gnomonv1.BatchStatus_PENDING {
		row("applied", fmt.Sprintf("%d", complete))
		row("rejected", fmt.Sprintf("%d", failed))
		row("unfinished", fmt.Sprintf("%d", pending))
	}
	if st.GetRound() > 0 {
		row("round", fmt.Sprintf("%d", st.GetRound()))
	}
	row("message", st.GetMessage())
	if d := st.GetLastDecision(); d != nil {
		row("last decision", fmt.Sprintf("%s at %s", d.GetDecision(), d.GetTime().AsTime().Format(time.RFC3339)))
		row("comment", d.GetComment())
	}
	for _, c := range st.GetConditions() {
		row(c.GetType(), fmt.Sprintf("%s: %s", c.GetStatus(), c.GetMessage()))
	}
	return b.String()
}
