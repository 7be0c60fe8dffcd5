package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	gnomonv1 "gnomon/api/gnomon/v1"
)

func playbookCommand(s *session) *cobra.Command {
	cmd := group("playbook", "Run operations across a cluster, stage by stage")
	cmd.Example = `  gnomon playbook run upgrade.yaml --watch
  gnomon playbook list --state RUNNING`
	cmd.AddCommand(
		playbookRunCommand(s), playbookValidateCommand(s), playbookGetCommand(s), playbookListCommand(s), playbookWatchCommand(s),
		playbookApproveCommand(s), playbookRejectCommand(s), playbookCancelCommand(s), playbookNudgeCommand(s),
	)
	return cmd
}

// playbooks makes one call with a client of its own.
func (s *session) playbooks(ctx context.Context, call func(context.Context, gnomonv1.PlaybookServiceClient) error) error {
	conn, closeConn, err := s.open()
	if err != nil {
		return err
	}
	defer closeConn()
	ctx, cancel := s.call(ctx)
	defer cancel()
	return call(ctx, gnomonv1.NewPlaybookServiceClient(conn))
}

// completePlaybooks offers the ids of playbooks in one of the states, or in any if none is
// named, for the first argument.
func completePlaybooks(s *session, states ...gnomonv1.PlaybookStatus_State) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		var found []cobra.Completion
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), completionTimeout)
		defer cancel()
		// A server that does not answer means no offers.
		_ = s.playbooks(ctx, func(ctx context.Context, client gnomonv1.PlaybookServiceClient) error {
			reply, err := client.ListPlaybooks(ctx, &gnomonv1.ListPlaybooksRequest{States: states, PageSize: maxPageSize})
			for _, p := range reply.GetPlaybooks() {
				if strings.HasPrefix(p.GetId(), typed) {
					found = append(found, cobra.CompletionWithDesc(p.GetId(), p.GetStatus().GetState().String()))
				}
			}
			return err
		})
		return found, cobra.ShellCompDirectiveNoFileComp
	}
}
