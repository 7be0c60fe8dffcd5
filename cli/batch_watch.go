package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/batch"
)

// batchWatchOptions are the flags of batch watch.
type batchWatchOptions struct {
	changes       bool
	throughReview bool
}

func batchWatchCommand(s *session) *cobra.Command {
	var o batchWatchOptions
	cmd := &cobra.Command{
		Use:   "watch ID",
		Short: "Follow a batch until it has ended or a person must decide",
		Long: `Follow a batch until it has ended or a person must decide, or until Ctrl-C.

A terminal shows the batch as it stands, with a progress bar while it is processed;
elsewhere every change is a line, with '-o json' the batch as one line of JSON, without
its changes unless --changes asks for them.

The exit code is 0 for COMPLETE and 3 for any other end and for MANUAL_REVIEW, whose
problems and rejected changes are shown.`,
		Example: `  gnomon batch watch release
  gnomon batch watch release --through-review -o json`,
		Args:              oneBatch,
		ValidArgsFunction: completeBatches(s, gnomonv1.BatchStatus_STATE_UNSPECIFIED),
		RunE: func(cmd *cobra.Command, args []string) error {
			client, closeClient, err := s.batches()
			if err != nil {
				return err
			}
			defer closeClient()
			return o.run(cmd, s, client, args[0])
		},
	}
	cmd.Flags().BoolVar(&o.changes, "changes", false, "with -o json or yaml: with all changes each time")
	cmd.Flags().BoolVar(&o.throughReview, "through-review", false, "go on while a person must decide")
	return cmd
}

// run follows a batch and shows, where it did not end well, what stands against it.
func (o *batchWatchOptions) run(cmd *cobra.Command, s *session, client gnomonv1.BatchServiceClient, id string) error {
	ctx, cancel := context.WithCancel(cmd.Context())
	defer cancel()
	w := s.batchWatcher(cmd)
	w.throughReview = o.throughReview
	stream, err := client.WatchBatch(ctx, &gnomonv1.WatchBatchRequest{Id: id, OmitChanges: !o.changes || w.p.format == outputTable})
	if err != nil {
		return err
	}
	last, err := w.follow(ctx, receiveBatches(ctx, stream))
	if err != nil || last.GetStatus().GetState() == gnomonv1.BatchStatus_COMPLETE {
		return err
	}
	if w.p.format == outputTable {
		whole, err := getBatch(ctx, s, client, id)
		if err != nil {
			return err
		}
		if text := w.p.whatIsWrong(whole); text != "" {
			if _, err := fmt.Fprintln(w.p.out, text); err != nil {
				return err
			}
		}
	}
	outcome := outcomeError{noun: "batch", id: id, state: last.GetStatus().GetState().String()}
	if last.GetStatus().GetState() == gnomonv1.BatchStatus_MANUAL_REVIEW {
		outcome.advice = "decide with 'gnomon batch review'"
	}
	return outcome
}

// whatIsWrong are the problems of a batch and its rejected changes.
func (p *printer) whatIsWrong(b *gnomonv1.Batch) string {
	var parts []string
	if problems := b.GetStatus().GetProblems(); len(problems) > 0 {
		parts = append(parts, problemTable(p.style, problems))
	}
	if b.GetStatus().GetFailedChanges() > 0 {
		parts = append(parts, p.changeTable(b.GetChanges(), func(c *gnomonv1.Change) bool {
			return c.GetStatus().GetState() == gnomonv1.ChangeStatus_FAILED
		}))
	}
	return strings.Join(parts, "\n")
}

// batchChange is one message of the stream, or its end.
type batchChange struct {
	batch *gnomonv1.Batch
	err   error
}

// receiveBatches turns the stream into a channel that ends with an error or io.EOF.
func receiveBatches(ctx context.Context, stream interface {
	Recv() (*gnomonv1.WatchBatchResponse, error)
},
) <-chan batchChange {
	changes := make(chan batchChange)
	go func() {
		for {
			reply, err := stream.Recv()
			select {
			case changes <- batchChange{reply.GetBatch(), err}:
			case <-ctx.Done():
				return
			}
			if err != nil {
				return
			}
		}
	}()
	return changes
}

// batchWatcher shows a batch as it goes on.
type batchWatcher struct {
	watcher

	throughReview bool
}

func (s *session) batchWatcher(cmd *cobra.Command) *batchWatcher {
	return &batchWatcher{watcher: *s.watcher(cmd)}
}

// over says whether nothing more is to be waited for.
func (w *batchWatcher) over(b *gnomonv1.Batch) bool {
	state := b.GetStatus().GetState()
	return batch.Ended(state) || (state == gnomonv1.BatchStatus_MANUAL_REVIEW && !w.throughReview)
}

// follow returns the batch as it stood at the end.
func (w *batchWatcher) follow(ctx context.Context, changes <-chan batchChange) (*gnomonv1.Batch, error) {
	var last *gnomonv1.Batch
	for {
		select {
		case <-ctx.Done():
			return last, ctx.Err()
		case <-w.tick:
			if last == nil {
				continue
			}
		case c := <-changes:
			switch {
			case errors.Is(c.err, io.EOF):
				return last, errors.New("the server ended the watch before the batch ended; watch again")
			case c.err != nil:
				return last, c.err
			}
			last = c.batch
		}
		if err := w.show(last); err != nil {
			return last, err
		}
		if w.over(last) {
			return last, nil
		}
	}
}

func (w *batchWatcher) show(b *gnomonv1.Batch) error {
	if w.repaints {
		return w.repaint(joinNonEmpty("\n", w.progress(b), w.p.batchCard(b)))
	}
	return w.p.showOneOfMany(b, func() string { return w.p.batchLine(b) })
}

// progress is the bar of a batch that is being processed, empty for any other.
func (w *batchWatcher) progress(b *gnomonv1.Batch) string {
	st := b.GetStatus()
	done := int(st.GetCompleteChanges() + st.GetFailedChanges())
	total := done + int(st.GetPendingChanges())
	if st.GetState() != gnomonv1.BatchStatus_PROCESSING || total == 0 {
		return ""
	}
	// No time is predicted: a watch that began in the middle knows no speed.
	bar := progressbar.NewOptions(total,
		progressbar.OptionSetWriter(io.Discard),
		progressbar.OptionSetDescription("applying"),
		progressbar.OptionShowCount(),
		progressbar.OptionSetElapsedTime(false),
		progressbar.OptionSetPredictTime(false),
		progressbar.OptionSetWidth(max(10, w.p.width/3)),
		progressbar.OptionSetRenderBlankState(true),
	)
	if done > 0 {
		_ = bar.Set(done) // nothing is written, so nothing fails
	}
	return fit(strings.Trim(bar.String(), "\r \n"), w.p.width)
}

// batchLine is a batch as one line, without relative times: it may be read later.
func (p *printer) batchLine(b *gnomonv1.Batch) string {
	st := b.GetStatus()
	parts := []string{utc(p.moment.now().Truncate(time.Millisecond)), p.style.batchState(st.GetState())}
	if st.GetState() == gnomonv1.BatchStatus_PENDING {
		parts = append(parts, "due="+utc(b.GetScheduledAt().AsTime()))
	}
	parts = append(parts, "done/fail/left="+tallyShort(st))
	if st.GetRound() > 1 {
		parts = append(parts, fmt.Sprintf("round=%d", st.GetRound()))
	}
	if st.GetMessage() != "" {
		parts = append(parts, fmt.Sprintf("message=%q", shortened(st.GetMessage(), 200)))
	}
	for _, c := range st.GetConditions() {
		if c.GetStatus() == gnomonv1.Condition_FALSE {
			parts = append(parts, visible(c.GetType()+"=FALSE"))
		}
	}
	return strings.Join(parts, " ")
}

// tallyShort is complete/failed/pending.
func tallyShort(st *gnomonv1.BatchStatus) string {
	return fmt.Sprintf("%d/%d/%d", st.GetCompleteChanges(), st.GetFailedChanges(), st.GetPendingChanges())
}
