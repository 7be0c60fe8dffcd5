package cli

import (
	"context"

	"github.com/spf13/cobra"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// listOptions are the flags of list.
type listOptions struct {
	request gnomonv1.ListActionsRequest
	limit   int
}

func listCommand(s *session) *cobra.Command {
	var o listOptions
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List actions",
		Long: `List actions that are alive, the next due first.

One page is listed unless --limit asks for more. A filter joins conditions by AND:
  state = "RETRYING" AND kind = "http_request" AND labels.team = "a"
  id = "order-*" AND scheduled_at < "2026-11-21T10:00:00Z"`,
		Example: `  gnomon action list
  gnomon action list --filter 'state = "RETRYING" AND labels.team = "a"' --limit 500
  gnomon action list --show-finished --order-by 'scheduled_at desc'
  gnomon action list -o json`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd, s) },
	}
	flags := cmd.Flags()
	flags.StringVar(&o.request.Filter, "filter", "", "list only what fits this")
	flags.StringVar(&o.request.OrderBy, "order-by", "", "scheduled_at or id, each followed by ' desc' if wanted (default scheduled_at)")
	flags.Int32Var(&o.request.PageSize, "page-size", 0, "actions of one call, at most 1000 (default 50)")
	flags.StringVar(&o.request.PageToken, "page-token", "", "go on where a page ended")
	flags.IntVar(&o.limit, "limit", 0, "page through until this many are listed (default one page)")
	flags.BoolVar(&o.request.ShowFinished, "show-finished", false, "list what ended within the last day too")
	mustComplete(cmd.RegisterFlagCompletionFunc("order-by", cobra.FixedCompletions(orders, cobra.ShellCompDirectiveNoFileComp)))
	return cmd
}

// orders are those of a list.
var orders = []string{"scheduled_at", "scheduled_at desc", "id", "id desc"}

func (o *listOptions) run(cmd *cobra.Command, s *session) error {
	if o.limit < 0 {
		return usageErrorf("--limit must not be negative, got %d", o.limit)
	}
	client, closeClient, err := s.connect()
	if err != nil {
		return err
	}
	defer closeClient()
	reply, err := o.pages(cmd.Context(), s, client)
	if err != nil {
		return err
	}
	p := s.printer(cmd)
	if err := p.show(reply, func() string { return p.actions(reply.GetActions()) }); err != nil {
		return err
	}
	if token := reply.GetNextPageToken(); token != "" && p.format == outputTable {
		p.notef("there are more; go on with --page-token %s, or list more with --limit", token)
	}
	return nil
}

// maxPageSize is the contract's (ListActionsRequest.page_size).
const maxPageSize = 1000

// pages is one page, or as many as --limit wants, as one reply whose token goes on
// exactly behind the last action.
func (o *listOptions) pages(ctx context.Context, s *session, client gnomonv1.ActionServiceClient) (*gnomonv1.ListActionsResponse, error) {
	all := &gnomonv1.ListActionsResponse{}
	token := o.request.GetPageToken()
	for {
		request := &gnomonv1.ListActionsRequest{
			PageSize: limitedPage(o.request.GetPageSize(), o.limit, len(all.GetActions())), PageToken: token, Filter: o.request.GetFilter(),
			OrderBy: o.request.GetOrderBy(), ShowFinished: o.request.GetShowFinished(),
		}
		page, err := o.page(ctx, s, client, request)
		if err != nil {
			return nil, err
		}
		all.Actions = append(all.Actions, page.GetActions()...)
		token = page.GetNextPageToken()
		if token == "" || len(all.GetActions()) >= o.limit {
			all.NextPageToken = token
			return all, nil
		}
	}
}

func (o *listOptions) page(ctx context.Context, s *session, client gnomonv1.ActionServiceClient, request *gnomonv1.ListActionsRequest) (*gnomonv1.ListActionsResponse, error) {
	ctx, cancel := s.call(ctx)
	defer cancel()
	return client.ListActions(ctx, request)
}

// limitedPage never asks for more than is left of --limit. Without --page-size a page
// under --limit is as large as it may be.
func limitedPage(size int32, limit, have int) int32 {
	if limit == 0 {
		return size
	}
	if size == 0 {
		size = maxPageSize
	}
	return min(size, int32(min(limit-have, maxPageSize)))
}

// actions is the table of a list.
func (p *printer) actions(actions []*gnomonv1.ScheduledAction) string {
	if len(actions) == 0 {
		return "no actions"
	}
	rows := make([][]string, len(actions))
	for i, action := range actions {
		st := action.GetStatus()
		due := ""
		if !finished(st.GetState()) {
			due = p.moment.both(st.GetScheduledAt())
		}
		rows[i] = []string{
			visible(action.GetMeta().GetId()), p.style.state(st.GetState()), kind(action.GetSpec().GetAction()),
			due, counters(st), p.lastAttempt(st.GetLastAttemptStatus()),
		}
	}
	return renderTable(p.style, p.width, []string{"ID", "STATE", "KIND", "DUE", "OK/FAIL/INT", "LAST"}, rows)
}

// lastAttempt is how an attempt ended, when, and the start of its error.
func (p *printer) lastAttempt(attempt *gnomonv1.AttemptStatus) string {
	if attempt == nil {
		return ""
	}
	text := outcomeName(attempt)
	if at := attempt.GetFinishTime(); at != nil {
		text += " " + p.moment.relative(at.AsTime())
	}
	return joinNonEmpty(": ", text, visible(shortened(attempt.GetError(), 60)))
}
