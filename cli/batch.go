package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	gnomonv1 "gnomon/api/gnomon/v1"
)

func batchCommand(s *session) *cobra.Command {
	cmd := group("batch", "Submit changes together, have them applied at their time, decide about them")
	cmd.Example = `  gnomon batch create release --file release.yaml --at 2026-11-21T03:00:00Z
  gnomon batch list --filter 'state = "MANUAL_REVIEW"'`
	cmd.AddCommand(
		batchCreateCommand(s), batchGetCommand(s), batchListCommand(s), batchWatchCommand(s),
		batchCancelCommand(s), batchRescheduleCommand(s), batchReviewCommand(s),
	)
	return cmd
}

// batches returns a client of batches and what closes it, as connect does.
func (s *session) batches() (gnomonv1.BatchServiceClient, func(), error) {
	conn, closeConn, err := s.open()
	if err != nil {
		return nil, nil, err
	}
	return gnomonv1.NewBatchServiceClient(conn), closeConn, nil
}

func getBatch(ctx context.Context, s *session, client gnomonv1.BatchServiceClient, id string) (*gnomonv1.Batch, error) {
	ctx, cancel := s.call(ctx)
	defer cancel()
	return client.GetBatch(ctx, &gnomonv1.GetBatchRequest{Id: id})
}

func oneBatch(cmd *cobra.Command, args []string) error {
	if len(args) != 1 {
		return usageErrorf("%s takes exactly one batch id, got %d", cmd.CommandPath(), len(args))
	}
	return nil
}

// completeBatches offers the ids of batches in one of the states, or in any if none is
// named, for the first argument.
func completeBatches(s *session, state gnomonv1.BatchStatus_State) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		client, closeClient, err := s.batches()
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		defer closeClient()
		ctx, cancel := context.WithTimeout(cmd.Context(), completionTimeout)
		defer cancel()
		request := &gnomonv1.ListBatchesRequest{OrderBy: "id", PageSize: 100}
		filter := ""
		if typed != "" {
			filter = fmt.Sprintf("id = %q", typed+"*")
		}
		if state != gnomonv1.BatchStatus_STATE_UNSPECIFIED {
			filter = joinNonEmpty(" AND ", filter, fmt.Sprintf("state = %q", state))
		}
		request.Filter = filter
		reply, err := client.ListBatches(ctx, request)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var ids []cobra.Completion
		for _, b := range reply.GetBatches() {
			ids = append(ids, cobra.CompletionWithDesc(b.GetId(), b.GetStatus().GetState().String()))
		}
		return ids, cobra.ShellCompDirectiveNoFileComp
	}
}
