package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/playbook"
)

func nodeGetCommand(n *nodes) *cobra.Command {
	var fresh bool
	cmd := &cobra.Command{
		Use:   "get ID",
		Short: "Show an action: where it stands, what came of it, who asked for it",
		Example: `  gnomon node get restart-7
  gnomon node get restart-7 --fresh -o json`,
		Args:              exactly("action id"),
		ValidArgsFunction: completeNodeActions(n),
		RunE: func(cmd *cobra.Command, args []string) error {
			return n.within(cmd.Context(), func(ctx context.Context, client gnomonv1.ClusterServiceClient) error {
				a, err := client.GetNodeAction(ctx, &gnomonv1.GetNodeActionRequest{Cluster: n.cluster, Id: args[0], Fresh: fresh})
				if err != nil {
					return err
				}
				p := n.printer(cmd)
				return p.show(a, func() string { return p.nodeCard(a) })
			})
		},
	}
	cmd.Flags().BoolVar(&fresh, "fresh", false, "ask the cluster itself instead of the store, which may lag")
	return cmd
}

func nodeWatchCommand(n *nodes) *cobra.Command {
	return &cobra.Command{
		Use:   "watch ID",
		Short: "Follow an action until it ends",
		Long: `Follow an action until it ends, or until Ctrl-C.

A terminal shows the action as it stands; elsewhere every change is a line, with
'-o json' the action as one line of JSON. The exit code is 0 for DONE and 3 for any
other end.`,
		Example: `  gnomon node watch restart-7
  gnomon node watch restart-7 -o json`,
		Args:              exactly("action id"),
		ValidArgsFunction: completeNodeActions(n, unfinishedStates...),
		RunE: func(cmd *cobra.Command, args []string) error {
			client, closeClient, err := n.clusters()
			if err != nil {
				return err
			}
			defer closeClient()
			return n.follow(cmd, client, args[0])
		},
	}
}

// follow shows an action until it has ended, and its output then.
func (n *nodes) follow(cmd *cobra.Command, client gnomonv1.ClusterServiceClient, id string) error {
	ctx, cancel := context.WithCancel(cmd.Context())
	defer cancel()
	stream, err := client.WatchNodeAction(ctx, &gnomonv1.WatchNodeActionRequest{Cluster: n.cluster, Id: id})
	if err != nil {
		return err
	}
	f := &follower[*gnomonv1.NodeAction]{watcher: *n.watcher(cmd), noun: "action"}
	f.over = func(a *gnomonv1.NodeAction) bool { return playbook.Finished(a.GetState()) }
	f.draw, f.line = f.p.nodeCard, f.p.nodeLine
	last, err := f.follow(ctx, func() (*gnomonv1.NodeAction, error) {
		reply, err := stream.Recv()
		return reply.GetAction(), err
	})
	if err != nil {
		return err
	}
	if output := last.GetResult().GetOutput(); output != "" && f.p.format == outputTable && !f.repaints {
		if _, err := fmt.Fprintln(f.p.out, strings.Join(outputLines(output, ""), "\n")); err != nil {
			return err
		}
	}
	if last.GetState() == gnomonv1.NodeAction_DONE {
		return nil
	}
	return outcomeError{noun: "action", id: id, state: last.GetState().String(), advice: last.GetReason()}
}

// nodeLine is an action as one line, without relative times: it may be read later.
func (p *printer) nodeLine(a *gnomonv1.NodeAction) string {
	parts := []string{
		utc(p.moment.now().Truncate(time.Millisecond)), p.style.nodeState(a.GetState(), a.GetState().String()), "node=" + visible(a.GetNode()),
	}
	if a.GetCancelRequested() {
		parts = append(parts, "cancelling")
	}
	if a.GetResult() != nil {
		parts = append(parts, fmt.Sprintf("code=%d", a.GetResult().GetCode()))
	}
	if a.GetReason() != "" {
		parts = append(parts, fmt.Sprintf("reason=%q", shortened(a.GetReason(), 200)))
	}
	return strings.Join(parts, " ")
}

// nodeCard is an action for people. It ends without a line feed.
func (p *printer) nodeCard(a *gnomonv1.NodeAction) string {
	var text cardBuilder
	text.line(p.style.heading(visible(a.GetId())))
	state := a.GetState().String()
	if a.GetCancelRequested() {
		state += ", is to be cancelled"
	}
	text.field("State", p.style.nodeState(a.GetState(), state))
	text.field("Class", a.GetClass().String())
	text.field("Reason", visible(a.GetReason()))
	text.field("Node", visible(a.GetNode()+" of "+a.GetCluster()))
	text.field("Action", visible(workOf(a)))
	if stage := joinNonEmpty(", stage ", a.GetPlaybook(), a.GetStage()); stage != "" {
		text.field("Playbook", visible(stage))
	}
	text.field("Asked by", visible(joinNonEmpty(" ", a.GetOrigin().String(), a.GetRequestedBy())))
	text.field("Decided by", visible(a.GetDecidedBy()))
	text.field("Created", p.moment.both(a.GetCreateTime()))
	text.field("Pushed", p.moment.both(a.GetPushTime()))
	text.field("Began", p.moment.both(a.GetStartTime()))
	ended := p.moment.both(a.GetFinishTime())
	if ended != "" && a.GetStartTime() != nil {
		ended += ", took " + a.GetFinishTime().AsTime().Sub(a.GetStartTime().AsTime()).Round(time.Millisecond).String()
	}
	text.field("Ended", ended)
	text.field("Replaced", p.moment.both(a.GetOverwriteTime()))
	for _, key := range slices.Sorted(maps.Keys(a.GetLabels())) {
		text.field("Label", visible(key+"="+a.GetLabels()[key]))
	}
	if r := a.GetResult(); r != nil {
		text.field("Code", strconv.Itoa(int(r.GetCode())))
		if r.GetOutputDroppedBytes() > 0 {
			text.field("Output", fmt.Sprintf("its end, %d bytes before are gone", r.GetOutputDroppedBytes()))
		} else if r.GetOutput() != "" {
			text.line("  Output")
		}
		for _, line := range outputLines(r.GetOutput(), "    ") {
			text.line(line)
		}
	}
	return fit(text.text.String(), p.width)
}

// outputLines are the lines of what a program wrote, safe to show.
func outputLines(output, indent string) []string {
	var all []string
	for line := range strings.Lines(output) {
		all = append(all, indent+visible(strings.TrimRight(line, "\r\n")))
	}
	return all
}

// workOf is what an action does, in one line. Words with blanks are quoted.
func workOf(a *gnomonv1.NodeAction) string {
	if request := a.GetHttpRequest(); request != nil {
		return summary(&gnomonv1.Action{Action: &gnomonv1.Action_HttpRequest{HttpRequest: request}})
	}
	words := make([]string, len(a.GetExec().GetArgv()))
	for i, word := range a.GetExec().GetArgv() {
		if word == "" || strings.ContainsAny(word, " '\"") {
			word = strconv.Quote(word)
		}
		words[i] = word
	}
	return strings.Join(words, " ")
}
