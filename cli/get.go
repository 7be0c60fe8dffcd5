package cli

import (
	"github.com/spf13/cobra"

	gnomonv1 "gnomon/api/gnomon/v1"
)

func getCommand(s *session) *cobra.Command {
	var fresh bool
	cmd := &cobra.Command{
		Use:   "get ID",
		Short: "Show an action: where it stands, what happened, what was asked for",
		Long: `Show an action: where it stands, what happened, what was asked for.

An action that ended by itself is still found for a day, a deleted one is not.
With '-o yaml' the output is a file for 'gnomon action apply'.`,
		Example: `  gnomon action get hello
  gnomon action get hello --fresh -o json`,
		Args:              oneID,
		ValidArgsFunction: completeIDs(s),
		RunE: func(cmd *cobra.Command, args []string) error {
			client, closeClient, err := s.connect()
			if err != nil {
				return err
			}
			defer closeClient()
			ctx, cancel := s.call(cmd.Context())
			defer cancel()
			action, err := client.GetAction(ctx, &gnomonv1.GetActionRequest{Id: args[0], Fresh: fresh})
			if err != nil {
				return err
			}
			p := s.printer(cmd)
			p.warn(action)
			return p.show(action, func() string { return p.card(action) })
		},
	}
	cmd.Flags().BoolVar(&fresh, "fresh", false, "ask the action itself instead of the store, which may lag")
	return cmd
}
