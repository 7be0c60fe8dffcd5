package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// playbookVerb is a command to one playbook.
type playbookVerb struct {
	command *cobra.Command
	// done is what has become of the playbook, in one word.
	done   string
	states []gnomonv1.PlaybookStatus_State
	send   func(context.Context, gnomonv1.PlaybookServiceClient, string) (*gnomonv1.Playbook, error)
}

func (v playbookVerb) build(s *session) *cobra.Command {
	v.command.Args = exactly("playbook id")
	v.command.ValidArgsFunction = completePlaybooks(s, v.states...)
	v.command.RunE = func(cmd *cobra.Command, args []string) error {
		return s.playbooks(cmd.Context(), func(ctx context.Context, client gnomonv1.PlaybookServiceClient) error {
			reply, err := v.send(ctx, client, args[0])
			if err != nil {
				return err
			}
			p := s.printer(cmd)
			return p.show(reply, func() string { return p.playbookResult(v.done, reply) })
		})
	}
	return v.command
}

// unendedPlaybooks are the states in which a playbook can be cancelled.
var unendedPlaybooks = []gnomonv1.PlaybookStatus_State{gnomonv1.PlaybookStatus_PENDING_APPROVE, gnomonv1.PlaybookStatus_RUNNING}

func playbookApproveCommand(s *session) *cobra.Command {
	var by who
	cmd := playbookVerb{
		command: &cobra.Command{
			Use:   "approve ID",
			Short: "Let a playbook begin that waits for an approval",
			Long: `Let a playbook begin that waits for an approval. Actions of a stage that wait for approvals
of their own are approved by 'gnomon node approve'.`,
			Example: `  gnomon playbook approve upgrade-7`,
		},
		done: "approved", states: []gnomonv1.PlaybookStatus_State{gnomonv1.PlaybookStatus_PENDING_APPROVE},
		send: func(ctx context.Context, client gnomonv1.PlaybookServiceClient, id string) (*gnomonv1.Playbook, error) {
			return client.ApprovePlaybook(ctx, &gnomonv1.ApprovePlaybookRequest{Id: id, DecidedBy: by.name})
		},
	}.build(s)
	by.register(cmd, s, "who approves")
	return cmd
}

func playbookRejectCommand(s *session) *cobra.Command {
	var by who
	var reason string
	cmd := playbookVerb{
		command: &cobra.Command{
			Use:     "reject ID",
			Short:   "Cancel a playbook that waits for an approval",
			Example: `  gnomon playbook reject upgrade-7 --reason 'not this week'`,
		},
		done: "rejected", states: []gnomonv1.PlaybookStatus_State{gnomonv1.PlaybookStatus_PENDING_APPROVE},
		send: func(ctx context.Context, client gnomonv1.PlaybookServiceClient, id string) (*gnomonv1.Playbook, error) {
			return client.RejectPlaybook(ctx, &gnomonv1.RejectPlaybookRequest{Id: id, DecidedBy: by.name, Reason: reason})
		},
	}.build(s)
	by.register(cmd, s, "who rejects")
	cmd.Flags().StringVar(&reason, "reason", "", "for people: why")
	return cmd
}

func playbookCancelCommand(s *session) *cobra.Command {
	var reason string
	cmd := playbookVerb{
		command: &cobra.Command{
			Use:   "cancel ID",
			Short: "Begin nothing more of a playbook and cancel what is unfinished",
			Long: `Begin nothing more of a playbook and cancel what is unfinished. It has ended when that has
ended.

Nothing is asked before.`,
			Example: `  gnomon playbook cancel upgrade-7 --reason 'the new version is broken'`,
		},
		done: "cancelled", states: unendedPlaybooks,
		send: func(ctx context.Context, client gnomonv1.PlaybookServiceClient, id string) (*gnomonv1.Playbook, error) {
			return client.CancelPlaybook(ctx, &gnomonv1.CancelPlaybookRequest{Id: id, Reason: reason})
		},
	}.build(s)
	cmd.Flags().StringVar(&reason, "reason", "", "for people: why")
	return cmd
}

func playbookNudgeCommand(s *session) *cobra.Command {
	return playbookVerb{
		command: &cobra.Command{
			Use:     "nudge ID",
			Short:   "Look again at what a playbook waits for",
			Long:    "Look again at what a playbook waits for. It changes nothing where nothing is stuck.",
			Example: `  gnomon playbook nudge upgrade-7`,
		},
		done: "nudged", states: unendedPlaybooks,
		send: func(ctx context.Context, client gnomonv1.PlaybookServiceClient, id string) (*gnomonv1.Playbook, error) {
			return client.NudgePlaybook(ctx, &gnomonv1.NudgePlaybookRequest{Id: id})
		},
	}.build(s)
}

// playbookResult is the reply to a command in one line.
func (p *printer) playbookResult(word string, one *gnomonv1.Playbook) string {
	return fmt.Sprintf("%s %s: %s, %s on %s", word, visible(one.GetId()), p.style.playbookState(one.GetStatus().GetState()),
		counted(len(one.GetStages()), "stage"), visible(one.GetCluster()))
}
