package cli

import (
	"context"

	"github.com/spf13/cobra"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/batch"
)

// batchListOptions are the flags of batch list.
type batchListOptions struct {
	request gnomonv1.ListBatchesRequest
	limit   int
}

func batchListCommand(s *session) *cobra.Command {
	var o batchListOptions
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List batches",
		Long: `List batches, those that have ended too, the earliest first.

One page is listed unless --limit asks for more. A filter joins conditions by AND:
  state = "MANUAL_REVIEW" AND labels.team = "a"
  id = "release-*" AND scheduled_at < "2026-11-21T10:00:00Z"`,
		Example: `  gnomon batch list
  gnomon batch list --filter 'state = "PENDING"' --limit 500
  gnomon batch list --order-by 'scheduled_at desc' -o json`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd, s) },
	}
	flags := cmd.Flags()
	flags.StringVar(&o.request.Filter, "filter", "", "list only what fits this")
	flags.StringVar(&o.request.OrderBy, "order-by", "", "scheduled_at or id, each followed by ' desc' if wanted (default scheduled_at)")
	flags.Int32Var(&o.request.PageSize, "page-size", 0, "batches of one call, at most 1000 (default 50)")
	flags.StringVar(&o.request.PageToken, "page-token", "", "go on where a page ended")
	flags.IntVar(&o.limit, "limit", 0, "page through until this many are listed (default one page)")
	mustComplete(cmd.RegisterFlagCompletionFunc("order-by", cobra.FixedCompletions(orders, cobra.ShellCompDirectiveNoFileComp)))
	return cmd
}

func (o *batchListOptions) run(cmd *cobra.Command, s *session) error {
	if o.limit < 0 {
		return usageErrorf("--limit must not be negative, got %d", o.limit)
	}
	client, closeClient, err := s.batches()
	if err != nil {
		return err
	}
	defer closeClient()
	reply, err := o.pages(cmd.Context(), s, client)
	if err != nil {
		return err
	}
	p := s.printer(cmd)
	if err := p.show(reply, func() string { return p.batches(reply.GetBatches()) }); err != nil {
		return err
	}
	if token := reply.GetNextPageToken(); token != "" && p.format == outputTable {
		p.notef("there are more; go on with --page-token %s, or list more with --limit", token)
	}
	return nil
}

// pages is one page, or as many as --limit wants, as one reply whose token goes on
// exactly behind the last batch.
func (o *batchListOptions) pages(ctx context.Context, s *session, client gnomonv1.BatchServiceClient) (*gnomonv1.ListBatchesResponse, error) {
	all := &gnomonv1.ListBatchesResponse{}
	token := o.request.GetPageToken()
	for {
		page, err := o.page(ctx, s, client, &gnomonv1.ListBatchesRequest{
			PageSize: limitedPage(o.request.GetPageSize(), o.limit, len(all.GetBatches())), PageToken: token,
			Filter: o.request.GetFilter(), OrderBy: o.request.GetOrderBy(),
		})
		if err != nil {
			return nil, err
		}
		all.Batches = append(all.Batches, page.GetBatches()...)
		token = page.GetNextPageToken()
		if token == "" || len(all.GetBatches()) >= o.limit {
			all.NextPageToken = token
			return all, nil
		}
	}
}

func (o *batchListOptions) page(ctx context.Context, s *session, client gnomonv1.BatchServiceClient, request *gnomonv1.ListBatchesRequest) (*gnomonv1.ListBatchesResponse, error) {
	ctx, cancel := s.call(ctx)
	defer cancel()
	return client.ListBatches(ctx, request)
}

// batches is the table of a list.
func (p *printer) batches(batches []*gnomonv1.Batch) string {
	if len(batches) == 0 {
		return "no batches"
	}
	rows := make([][]string, len(batches))
	for i, b := range batches {
		st := b.GetStatus()
		when := p.moment.both(b.GetScheduledAt())
		if batch.Ended(st.GetState()) {
			when = "ended " + p.moment.both(st.GetFinishTime())
		}
		rows[i] = []string{
			visible(b.GetId()), p.style.batchState(st.GetState()), when, tallyShort(st),
			visible(shortened(joinNonEmpty("; ", st.GetMessage(), b.GetComment()), 80)),
		}
	}
	return renderTable(p.style, p.width, []string{"ID", "STATE", "DUE", "DONE/FAIL/LEFT", "MESSAGE"}, rows)
}
