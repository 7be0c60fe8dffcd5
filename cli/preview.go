package cli

import (
	"strconv"
	"time"

	"github.com/spf13/cobra"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// previewOptions are the flags of preview beside those of the spec.
type previewOptions struct {
	spec  specFlags
	file  string
	count int32
	after string
}

func previewCommand(s *session) *cobra.Command {
	var o previewOptions
	cmd := &cobra.Command{
		Use:   "preview [ID]",
		Short: "Show the next due times of an action, or of one that is not created yet",
		Long: `Show the next due times of an action, or of one that is not created yet.

With an id and flags: what the action would do if it were updated so.`,
		Example: `  gnomon action preview report --count 5
  gnomon action preview --cron '30 9 * * MON-FRI' --time-zone Europe/Amsterdam
  gnomon action preview --every 90m --at 2026-11-21T10:00:00Z`,
		Args:              atMostOneID,
		ValidArgsFunction: completeIDs(s),
		RunE:              func(cmd *cobra.Command, args []string) error { return o.run(cmd, s, first(args)) },
	}
	o.spec.register(cmd)
	flags := cmd.Flags()
	flags.StringVarP(&o.file, "file", "f", "", "take the action from this YAML or JSON file, '-' for stdin")
	flags.Int32Var(&o.count, "count", 0, "how many, at most 1000 (default 10)")
	flags.StringVar(&o.after, "after", "", "only those at or after this time, RFC 3339 (default now)")
	return cmd
}

func (o *previewOptions) run(cmd *cobra.Command, s *session, id string) error {
	given := o.spec.given(cmd)
	switch {
	case id == "" && o.file == "" && !given:
		return usageErrorf("%s needs an action id, --file, or flags such as --every or --cron", cmd.CommandPath())
	case id != "" && o.file != "":
		return usageErrorf("give an action id or --file, not both")
	}
	request := &gnomonv1.PreviewOccurrencesRequest{Id: id, Count: o.count}
	if o.after != "" {
		after, err := parseTime("after", o.after)
		if err != nil {
			return err
		}
		request.After = after
	}
	client, closeClient, err := s.connect()
	if err != nil {
		return err
	}
	defer closeClient()

	spec, err := o.base(cmd, s, client, id)
	if err != nil {
		return err
	}
	if id == "" || given {
		now := s.env.now()
		if err := o.spec.apply(cmd, spec, now); err != nil {
			return err
		}
		if id != "" && !anyChanged(cmd, []string{"at", "in"}) {
			carryStart(spec, now)
		}
		startNow(spec, now)
		fillAction(spec)
		request.Spec = spec
	}
	ctx, cancel := s.call(cmd.Context())
	defer cancel()
	reply, err := client.PreviewOccurrences(ctx, request)
	if err != nil {
		return err
	}
	p := s.printer(cmd)
	return p.show(reply, func() string { return p.occurrences(reply, zoneOf(spec, s.env.local)) })
}

// base is what the flags change. With an id alone it only tells the time zone.
func (o *previewOptions) base(cmd *cobra.Command, s *session, client gnomonv1.ActionServiceClient, id string) (*gnomonv1.Spec, error) {
	switch {
	case id != "":
		action, err := getAction(cmd.Context(), s, client, &gnomonv1.GetActionRequest{Id: id})
		return cloneSpec(action.GetSpec()), err
	case o.file != "":
		action, err := readOne(cmd, o.file)
		return cloneSpec(action.GetSpec()), err
	default:
		return &gnomonv1.Spec{}, nil
	}
}

// fillAction stands in for what is to be performed, which due times do not depend
// on, but without which a spec is not valid.
func fillAction(spec *gnomonv1.Spec) {
	if spec.GetAction() == nil {
		spec.Action = &gnomonv1.Action{Action: &gnomonv1.Action_HttpRequest{
			HttpRequest: &gnomonv1.HttpRequest{Url: "http://127.0.0.1/"},
		}}
	}
}

// zoneOf is the calendar's zone, or the local one where there is none.
func zoneOf(spec *gnomonv1.Spec, local *time.Location) *time.Location {
	calendar := spec.GetSendPolicy().GetSendByCalendarPolicy()
	if calendar == nil {
		return local
	}
	zone, err := time.LoadLocation(calendar.GetTimeZone())
	if err != nil {
		return local
	}
	return zone
}

func (p *printer) occurrences(reply *gnomonv1.PreviewOccurrencesResponse, zone *time.Location) string {
	if len(reply.GetOccurrences()) == 0 {
		return "no occurrences"
	}
	rows := make([][]string, len(reply.GetOccurrences()))
	for i, occurrence := range reply.GetOccurrences() {
		at := occurrence.AsTime()
		rows[i] = []string{
			strconv.Itoa(i + 1), at.In(zone).Format("Mon 2006-01-02 15:04:05 MST"), utc(at), p.moment.relative(at),
		}
	}
	return renderTable(p.style, p.width, []string{"#", "TIME", "UTC", "FROM NOW"}, rows)
}
