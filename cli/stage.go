package cli

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"
	"google.golang.org/protobuf/proto"

	gnomonv1 "gnomon/api/gnomon/v1"
)

func stageCommand(s *session) *cobra.Command {
	cmd := group("stage", "See the stages, what waits for them, and walk them through all entities")
	cmd.Example = `  gnomon stage list
  gnomon stage queue price`
	cmd.AddCommand(stageListCommand(s), stageQueueCommand(s), stageRewalkCommand(s))
	return cmd
}

// completeStages offers the names of stages.
func completeStages(s *session) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		var found []cobra.Completion
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), completionTimeout)
		defer cancel()
		_ = s.entities(ctx, func(ctx context.Context, client gnomonv1.EntityServiceClient) error {
			reply, err := client.ListStages(ctx, &gnomonv1.ListStagesRequest{})
			for _, stage := range reply.GetStages() {
				if strings.HasPrefix(stage.GetName(), typed) {
					found = append(found, cobra.CompletionWithDesc(stage.GetName(), "of "+stage.GetEntityType()))
				}
			}
			return err
		})
		return found, cobra.ShellCompDirectiveNoFileComp
	}
}

func stageListCommand(s *session) *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "List the stages that are declared",
		Example: `  gnomon stage list -o json`,
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return s.entities(cmd.Context(), func(ctx context.Context, client gnomonv1.EntityServiceClient) error {
				reply, err := client.ListStages(ctx, &gnomonv1.ListStagesRequest{})
				if err != nil {
					return err
				}
				p := s.printer(cmd)
				return p.show(reply, func() string { return p.stageList(reply.GetStages()) })
			})
		},
	}
}

func (p *printer) stageList(all []*gnomonv1.Stage) string {
	if len(all) == 0 {
		return "no stages"
	}
	rows := make([][]string, len(all))
	for i, stage := range all {
		where, rate, parallelism, fields := "worker", "-", "-", "all"
		if stage.GetAddress() != "" {
			where = stage.GetAddress()
		}
		if stage.GetRateLimit() > 0 {
			rate = fmt.Sprintf("%g/s", stage.GetRateLimit())
		}
		if stage.GetParallelism() > 0 {
			parallelism = fmt.Sprint(stage.GetParallelism())
		}
		if len(stage.GetFields()) > 0 {
			fields = strings.Join(stage.GetFields(), ",")
		}
		rows[i] = []string{visible(stage.GetName()), visible(stage.GetEntityType()), visible(where), rate, parallelism, visible(shortened(fields, 60))}
	}
	return renderTable(p.style, p.width, []string{"STAGE", "TYPE", "WHERE", "RATE", "PARALLEL", "FIELDS"}, rows)
}

func stageQueueCommand(s *session) *cobra.Command {
	var o listing
	cmd := &cobra.Command{
		Use:   "queue STAGE",
		Short: "List the entities that wait for a stage, the oldest first",
		Long: `List the entities that wait for a stage, the oldest first, as the store has them: that may
be some seconds old.

One page is listed unless --limit asks for more.`,
		Example: `  gnomon stage queue price
  gnomon stage queue price --limit 500 -o json`,
		Args:              exactly("stage"),
		ValidArgsFunction: completeStages(s),
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := o.check(); err != nil {
			return err
		}
		all := &gnomonv1.PeekStageQueueResponse{}
		var err error
		all.NextPageToken, err = pages(o.size, o.token, o.limit, func(size int32, token string) (got int, next string, err error) {
			err = s.entities(cmd.Context(), func(ctx context.Context, client gnomonv1.EntityServiceClient) error {
				reply, err := client.PeekStageQueue(ctx, &gnomonv1.PeekStageQueueRequest{Stage: args[0], PageSize: size, PageToken: token})
				all.Entries = append(all.Entries, reply.GetEntries()...)
				got, next = len(reply.GetEntries()), reply.GetNextPageToken()
				return err
			})
			return got, next, err
		})
		if err != nil {
			return err
		}
		p := s.printer(cmd)
		if err := p.show(all, func() string { return p.queueTable(all.GetEntries()) }); err != nil {
			return err
		}
		p.more(all.GetNextPageToken())
		return nil
	}
	o.register(cmd, "entities")
	return cmd
}

func (p *printer) queueTable(all []*gnomonv1.PeekStageQueueResponse_Entry) string {
	if len(all) == 0 {
		return "nothing waits"
	}
	rows := make([][]string, len(all))
	for i, one := range all {
		background := ""
		if one.GetBackground() {
			background = "background"
		}
		rows[i] = []string{visible(one.GetType()), visible(one.GetId()), p.moment.both(one.GetEnqueueTime()), background}
	}
	return renderTable(p.style, p.width, []string{"TYPE", "ID", "SINCE", ""}, rows)
}

// rewalkOptions are the flags of stage rewalk.
type rewalkOptions struct {
	rate                                 float64
	unconditional, watch, status, cancel bool
}

func stageRewalkCommand(s *session) *cobra.Command {
	var o rewalkOptions
	cmd := &cobra.Command{
		Use:   "rewalk STAGE",
		Short: "Walk a stage through all entities of its type",
		Long: `Walk a stage through all entities of its type: it is asked about each, or with
--unconditional visits each, behind all real changes. One walk of a stage goes on at a
time; a second call is answered with that one.

With --watch the walk is followed to its end, on a terminal with a progress bar; the exit
code is 3 if it was cancelled. --status only looks, --cancel ends the walk.`,
		Example: `  gnomon stage rewalk price --rate 200 --watch
  gnomon stage rewalk price --status
  gnomon stage rewalk price --cancel`,
		Args:              exactly("stage"),
		ValidArgsFunction: completeStages(s),
		RunE:              func(cmd *cobra.Command, args []string) error { return o.run(cmd, s, args[0]) },
	}
	flags := cmd.Flags()
	flags.Float64Var(&o.rate, "rate", 0, "entities a second, 0.01 to 10000 (default 100)")
	flags.BoolVar(&o.unconditional, "unconditional", false, "visit every entity without asking first")
	flags.BoolVar(&o.watch, "watch", false, "follow the walk to its end")
	flags.BoolVar(&o.status, "status", false, "begin none, show how far the last is")
	flags.BoolVar(&o.cancel, "cancel", false, "end the walk")
	return cmd
}

func (o *rewalkOptions) run(cmd *cobra.Command, s *session, stage string) error {
	if err := exclusive(cmd, "status", "cancel"); err != nil {
		return err
	}
	if err := exclusive(cmd, "watch", "cancel"); err != nil {
		return err
	}
	for _, with := range []string{"rate", "unconditional"} {
		if (o.status || o.cancel) && cmd.Flags().Changed(with) {
			return usageErrorf("--%s is for a new walk, not for --status or --cancel", with)
		}
	}
	var walk *gnomonv1.Rewalk
	err := s.entities(cmd.Context(), func(ctx context.Context, client gnomonv1.EntityServiceClient) (err error) {
		switch {
		case o.status:
			walk, err = client.GetRewalk(ctx, &gnomonv1.GetRewalkRequest{Stage: stage})
		case o.cancel:
			walk, err = client.CancelRewalk(ctx, &gnomonv1.CancelRewalkRequest{Stage: stage})
		default:
			walk, err = client.RewalkStage(ctx, &gnomonv1.RewalkStageRequest{Stage: stage, Rate: o.rate, Unconditional: o.unconditional})
		}
		return err
	})
	if err != nil {
		return err
	}
	if o.watch {
		return s.followRewalk(cmd, walk)
	}
	p := s.printer(cmd)
	return p.show(walk, func() string { return p.rewalkCard(walk) })
}

// followRewalk shows a walk until it has ended.
func (s *session) followRewalk(cmd *cobra.Command, walk *gnomonv1.Rewalk) error {
	f := &follower[*gnomonv1.Rewalk]{watcher: *s.watcher(cmd), noun: "walk"}
	f.over = func(w *gnomonv1.Rewalk) bool { return w.GetState() != gnomonv1.Rewalk_RUNNING }
	f.draw = func(w *gnomonv1.Rewalk) string { return joinNonEmpty("\n", f.p.rewalkBar(w), f.p.rewalkCard(w)) }
	f.line = f.p.rewalkLine
	var shown *gnomonv1.Rewalk
	last, err := f.follow(cmd.Context(), func() (now *gnomonv1.Rewalk, err error) {
		if now = walk; shown != nil {
			now, err = s.nextRewalk(cmd.Context(), shown)
		}
		shown = now
		return now, err
	})
	if err != nil || last.GetState() == gnomonv1.Rewalk_DONE {
		return err
	}
	return outcomeError{noun: "walk of", id: last.GetStage(), state: last.GetState().String()}
}

// nextRewalk waits until a walk is further than it was.
func (s *session) nextRewalk(ctx context.Context, before *gnomonv1.Rewalk) (*gnomonv1.Rewalk, error) {
	for {
		if err := pause(ctx, checkEvery); err != nil {
			return nil, err
		}
		var now *gnomonv1.Rewalk
		err := s.entities(ctx, func(ctx context.Context, client gnomonv1.EntityServiceClient) (err error) {
			now, err = client.GetRewalk(ctx, &gnomonv1.GetRewalkRequest{Stage: before.GetStage()})
			return err
		})
		if err != nil || !proto.Equal(before, now) {
			return now, err
		}
	}
}

// rewalkBar is the bar of a walk that goes on.
func (p *printer) rewalkBar(w *gnomonv1.Rewalk) string {
	// Entities that were put since may make it more than there were.
	total := max(w.GetTotal(), w.GetWalked())
	if w.GetState() != gnomonv1.Rewalk_RUNNING || total == 0 {
		return ""
	}
	bar := progressbar.NewOptions64(int64(total),
		progressbar.OptionSetWriter(io.Discard),
		progressbar.OptionSetDescription("walking"),
		progressbar.OptionShowCount(),
		progressbar.OptionSetElapsedTime(false),
		progressbar.OptionSetPredictTime(false),
		progressbar.OptionSetWidth(max(10, p.width/3)),
		progressbar.OptionSetRenderBlankState(true),
	)
	if w.GetWalked() > 0 {
		_ = bar.Set64(int64(w.GetWalked())) // nothing is written, so nothing fails
	}
	return fit(strings.Trim(bar.String(), "\r \n"), p.width)
}

// rewalkCard is a walk for people. It ends without a line feed.
func (p *printer) rewalkCard(w *gnomonv1.Rewalk) string {
	var text cardBuilder
	text.line(p.style.heading("walk of " + visible(w.GetStage())))
	text.field("State", w.GetState().String())
	text.field("Walked", fmt.Sprintf("%d of about %d", w.GetWalked(), w.GetTotal()))
	text.field("Enqueued", fmt.Sprint(w.GetEnqueued()))
	text.field("Position", visible(w.GetPosition()))
	text.field("Began", p.moment.both(w.GetStartTime()))
	text.field("Ended", p.moment.both(w.GetFinishTime()))
	return fit(text.text.String(), p.width)
}

// rewalkLine is a walk as one line, without relative times: it may be read later.
func (p *printer) rewalkLine(w *gnomonv1.Rewalk) string {
	return fmt.Sprintf("%s %s walked=%d/%d enqueued=%d", utc(p.moment.now().Truncate(time.Millisecond)),
		w.GetState(), w.GetWalked(), w.GetTotal(), w.GetEnqueued())
}
