package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// completionTimeout is what a person waits for after pressing Tab.
const completionTimeout = time.Second

// completeIDs offers the ids of living actions. A server that does not answer
// means no offers, never an error in the middle of somebody's command line.
func completeIDs(s *session) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		client, closeClient, err := s.connect()
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		defer closeClient()
		ctx, cancel := context.WithTimeout(cmd.Context(), completionTimeout)
		defer cancel()
		request := &gnomonv1.ListActionsRequest{OrderBy: "id", PageSize: 100}
		if typed != "" {
			request.Filter = fmt.Sprintf("id = %q", typed+"*")
		}
		reply, err := client.ListActions(ctx, request)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var ids []cobra.Completion
		for _, action := range reply.GetActions() {
			ids = append(ids, cobra.CompletionWithDesc(action.GetMeta().GetId(), stateName(action.GetStatus().GetState())))
		}
		return ids, cobra.ShellCompDirectiveNoFileComp
	}
}
