package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/playbook"
)

func playbookGetCommand(s *session) *cobra.Command {
	var fresh bool
	cmd := &cobra.Command{
		Use:   "get ID",
		Short: "Show a playbook: its stages, and every node of those that began",
		Long: `Show a playbook: its stages, and every node of those that began.

With '-o yaml' the output is a file for 'gnomon playbook run', under another id.`,
		Example: `  gnomon playbook get upgrade-7
  gnomon playbook get upgrade-7 --fresh -o json`,
		Args:              exactly("playbook id"),
		ValidArgsFunction: completePlaybooks(s),
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.playbooks(cmd.Context(), func(ctx context.Context, client gnomonv1.PlaybookServiceClient) error {
				reply, err := client.GetPlaybook(ctx, &gnomonv1.GetPlaybookRequest{Id: args[0], Fresh: fresh})
				if err != nil {
					return err
				}
				p := s.printer(cmd)
				return p.show(reply, func() string { return p.playbookPage(reply) })
			})
		},
	}
	cmd.Flags().BoolVar(&fresh, "fresh", false, "ask the playbook itself instead of the store, which may lag")
	return cmd
}

func playbookWatchCommand(s *session) *cobra.Command {
	return &cobra.Command{
		Use:   "watch ID",
		Short: "Follow a playbook until it ends",
		Long: `Follow a playbook until it ends, or until Ctrl-C.

A terminal shows its stages and their nodes as they move; elsewhere every change is a
line with the nodes that moved, with '-o json' the playbook as one line of JSON. The exit
code is 0 for DONE and 3 for FAILED and CANCELLED.`,
		Example: `  gnomon playbook watch upgrade-7
  gnomon playbook watch upgrade-7 -o json`,
		Args:              exactly("playbook id"),
		ValidArgsFunction: completePlaybooks(s, unendedPlaybooks...),
		RunE:              func(cmd *cobra.Command, args []string) error { return s.followPlaybook(cmd, args[0]) },
	}
}

// followPlaybook shows a playbook until it has ended, and what did not end well then.
func (s *session) followPlaybook(cmd *cobra.Command, id string) error {
	conn, closeConn, err := s.open()
	if err != nil {
		return err
	}
	defer closeConn()
	ctx, cancel := context.WithCancel(cmd.Context())
	defer cancel()
	stream, err := gnomonv1.NewPlaybookServiceClient(conn).WatchPlaybook(ctx, &gnomonv1.WatchPlaybookRequest{Id: id})
	if err != nil {
		return err
	}
	f := &follower[*gnomonv1.Playbook]{watcher: *s.watcher(cmd), noun: "playbook"}
	f.over = func(p *gnomonv1.Playbook) bool { return playbook.Ended(p.GetStatus().GetState()) }
	f.draw = func(p *gnomonv1.Playbook) string { return f.p.drawPlaybook(p, f.height-1) }
	lines := playbookLines{p: f.p}
	f.line = lines.next
	last, err := f.follow(ctx, func() (*gnomonv1.Playbook, error) {
		reply, err := stream.Recv()
		return reply.GetPlaybook(), err
	})
	if err != nil || last.GetStatus().GetState() == gnomonv1.PlaybookStatus_DONE {
		return err
	}
	if f.p.format == outputTable {
		if text := f.p.badActions(last); text != "" {
			if _, err := fmt.Fprintln(f.p.out, text); err != nil {
				return err
			}
		}
	}
	return outcomeError{noun: "playbook", id: id, state: last.GetStatus().GetState().String(), advice: last.GetStatus().GetReason()}
}

// badActions is a table of the actions that ended otherwise than DONE.
func (p *printer) badActions(one *gnomonv1.Playbook) string {
	var rows [][]string
	for _, stage := range one.GetStatus().GetStages() {
		for _, a := range stage.GetActions() {
			if playbook.Finished(a.GetState()) && a.GetState() != gnomonv1.NodeAction_DONE {
				rows = append(rows, []string{
					visible(stage.GetName()), visible(a.GetNode()), p.style.nodeState(a.GetState(), a.GetState().String()), visible(a.GetId()),
				})
			}
		}
	}
	if rows == nil {
		return ""
	}
	return renderTable(p.style, p.width, []string{"STAGE", "NODE", "STATE", "ACTION"}, rows)
}

// playbookLines writes a playbook as lines, each with the nodes that moved since the one
// before.
type playbookLines struct {
	p     *printer
	known map[string]gnomonv1.NodeAction_State
}

// next is without relative times: it may be read later.
func (l *playbookLines) next(one *gnomonv1.Playbook) string {
	st := one.GetStatus()
	parts := []string{utc(l.p.moment.now().Truncate(time.Millisecond)), l.p.style.playbookState(st.GetState())}
	if at, name := currentStage(st); at > 0 {
		n := count(st.GetStages()[at-1])
		parts = append(parts, fmt.Sprintf("stage=%d/%d:%s", at, len(st.GetStages()), visible(name)),
			fmt.Sprintf("done/bad/running/left=%d/%d/%d/%d", n.done, n.bad, n.running, n.left))
	}
	seen := map[string]gnomonv1.NodeAction_State{}
	for _, stage := range st.GetStages() {
		for _, a := range stage.GetActions() {
			seen[a.GetId()] = a.GetState()
			if l.known[a.GetId()] != a.GetState() {
				parts = append(parts, visible(a.GetNode())+"="+l.p.style.nodeState(a.GetState(), a.GetState().String()))
			}
		}
	}
	l.known = seen
	if st.GetReason() != "" {
		parts = append(parts, fmt.Sprintf("reason=%q", shortened(st.GetReason(), 200)))
	}
	return strings.Join(parts, " ")
}

// playbookPage is all of a playbook for people.
func (p *printer) playbookPage(one *gnomonv1.Playbook) string {
	st := one.GetStatus()
	var text cardBuilder
	text.line(p.style.heading(visible(one.GetId())))
	text.field("State", p.style.playbookState(st.GetState()))
	text.field("Reason", visible(st.GetReason()))
	text.field("Cluster", visible(one.GetCluster()))
	text.field("Asked by", visible(one.GetRequestedBy()))
	text.field("Decided by", visible(st.GetDecidedBy()))
	text.field("Created", p.moment.both(one.GetCreateTime()))
	text.field("Began", p.moment.both(st.GetStartTime()))
	text.field("Ended", p.moment.both(st.GetFinishTime()))
	for _, name := range slices.Sorted(maps.Keys(one.GetVariables())) {
		text.field("Variable", visible(name+"="+one.GetVariables()[name]))
	}
	for _, key := range slices.Sorted(maps.Keys(one.GetLabels())) {
		text.field("Label", visible(key+"="+one.GetLabels()[key]))
	}
	parts := []string{fit(text.text.String(), p.width), p.style.heading("Stages"), p.stageTable(one)}
	var rows [][]string
	for _, stage := range st.GetStages() {
		for _, a := range stage.GetActions() {
			rows = append(rows, []string{visible(stage.GetName()), visible(a.GetNode()), p.style.nodeState(a.GetState(), a.GetState().String()), visible(a.GetId())})
		}
	}
	if rows != nil {
		parts = append(parts, p.style.heading("Actions"), renderTable(p.style, p.width, []string{"STAGE", "NODE", "STATE", "ACTION"}, rows))
	}
	return strings.Join(parts, "\n")
}

func (p *printer) stageTable(one *gnomonv1.Playbook) string {
	rows := make([][]string, len(one.GetStatus().GetStages()))
	for i, stage := range one.GetStatus().GetStages() {
		n := count(stage)
		what := ""
		if i < len(one.GetStages()) {
			what = stageWork(one.GetStages()[i])
		}
		rows[i] = []string{
			fmt.Sprint(i + 1), visible(stage.GetName()), p.style.stageState(stage.GetState()),
			fmt.Sprintf("%d/%d/%d/%d", n.done, n.bad, n.running, n.left), visible(shortened(what, 60)),
		}
	}
	return renderTable(p.style, p.width, []string{"#", "STAGE", "STATE", "DONE/BAD/RUN/LEFT", "ACTION"}, rows)
}
