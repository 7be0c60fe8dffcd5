package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	gnomonv1 "gnomon/api/gnomon/v1"
)

func batchGetCommand(s *session) *cobra.Command {
	return &cobra.Command{
		Use:   "get ID",
		Short: "Show a batch: where it stands, its problems, and every change",
		Long: `Show a batch: where it stands, its problems, and every change.

With '-o yaml' the output is a file for 'gnomon batch create', under another id.`,
		Example: `  gnomon batch get release
  gnomon batch get release -o json`,
		Args:              oneBatch,
		ValidArgsFunction: completeBatches(s, gnomonv1.BatchStatus_STATE_UNSPECIFIED),
		RunE: func(cmd *cobra.Command, args []string) error {
			client, closeClient, err := s.batches()
			if err != nil {
				return err
			}
			defer closeClient()
			b, err := getBatch(cmd.Context(), s, client, args[0])
			if err != nil {
				return err
			}
			p := s.printer(cmd)
			p.warnOf(b.GetId(), b.GetStatus().GetConditions())
			return p.show(b, func() string { return p.batchPage(b) })
		},
	}
}

// batchPage is all of a batch for people.
func (p *printer) batchPage(b *gnomonv1.Batch) string {
	parts := []string{p.batchCard(b)}
	if problems := b.GetStatus().GetProblems(); len(problems) > 0 {
		parts = append(parts, p.style.heading("Problems"), problemTable(p.style, problems))
	}
	if len(b.GetChanges()) > 0 {
		parts = append(parts, p.style.heading("Changes"), p.changeTable(b.GetChanges(), nil))
	}
	return strings.Join(parts, "\n")
}

// batchCard is where a batch stands, without its changes. It ends without a line feed.
func (p *printer) batchCard(b *gnomonv1.Batch) string {
	st := b.GetStatus()
	var text cardBuilder
	text.line(p.style.heading(visible(b.GetId())))
	text.field("State", p.style.batchState(st.GetState()))
	text.field("Message", visible(st.GetMessage()))
	text.field("Due", p.moment.full(b.GetScheduledAt()))
	text.field("Changes", tally(st))
	if st.GetRound() > 0 {
		text.field("Round", fmt.Sprintf("%d, begun %s", st.GetRound(), counted(int(st.GetAttempts()), "time")))
	}
	text.field("Began", p.moment.both(st.GetStartTime()))
	text.field("Ended", p.moment.both(st.GetFinishTime()))
	if d := st.GetLastDecision(); d != nil {
		text.field("Decision", visible(joinNonEmpty(": ", d.GetDecision()+" "+p.moment.relative(d.GetTime().AsTime()), d.GetComment())))
	}
	for _, c := range st.GetConditions() {
		text.field("Condition", visible(condition(c)))
	}
	text.field("Comment", visible(b.GetComment()))
	for _, key := range slices.Sorted(maps.Keys(b.GetLabels())) {
		text.field("Label", visible(key+"="+b.GetLabels()[key]))
	}
	text.field("Uid", visible(b.GetUid()))
	text.field("Etag", visible(b.GetEtag()))
	text.field("Created", p.moment.both(b.GetCreateTime()))
	return fit(text.text.String(), p.width)
}

// tally is how many changes stand where.
func tally(st *gnomonv1.BatchStatus) string {
	return fmt.Sprintf("%d complete, %d failed, %d pending", st.GetCompleteChanges(), st.GetFailedChanges(), st.GetPendingChanges())
}

// changeTable has a row for each change that is wanted, all of them if wanted is nil. As
// those of problems, its lines are not cut.
func (p *printer) changeTable(changes []*gnomonv1.Change, wanted func(*gnomonv1.Change) bool) string {
	var rows [][]string
	for i, c := range changes {
		if wanted != nil && !wanted(c) {
			continue
		}
		st := c.GetStatus()
		rows = append(rows, []string{
			fmt.Sprint(i), p.style.changeState(st.GetState()), fmt.Sprint(st.GetAttempts()),
			visible(shortened(changeSummary(c), 80)), visible(st.GetError()),
		})
	}
	return renderTable(p.style, 0, []string{"#", "STATE", "ATTEMPTS", "CHANGE", "ERROR"}, rows)
}

// changeSummary is what a change does, in one line.
func changeSummary(c *gnomonv1.Change) string {
	switch change := c.GetChange().(type) {
	case *gnomonv1.Change_DnsRecord:
		r := change.DnsRecord
		return joinNonEmpty(" ", r.GetAction().String(), r.GetName(), r.GetType().String(), strings.Join(r.GetData(), ", "))
	case *gnomonv1.Change_HttpChange:
		return "POST " + change.HttpChange.GetApplyUrl()
	default:
		return "-"
	}
}
