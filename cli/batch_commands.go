package cli

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// batchVerb are the flags of a command to a batch, and its answer.
type batchVerb struct {
	etag, requestID, comment string
}

func (v *batchVerb) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&v.etag, "etag", "", "the etag that must be the current one")
	flags.StringVar(&v.requestID, "request-id", "", "makes the call idempotent")
	flags.StringVar(&v.comment, "comment", "", "for people: why")
}

// send makes one call and shows the batch as it stands then.
func (*batchVerb) send(cmd *cobra.Command, s *session, done string, call func(context.Context, gnomonv1.BatchServiceClient) (*gnomonv1.Batch, error)) error {
	client, closeClient, err := s.batches()
	if err != nil {
		return err
	}
	defer closeClient()
	ctx, cancel := s.call(cmd.Context())
	defer cancel()
	reply, err := call(ctx, client)
	if err != nil {
		return err
	}
	return s.printer(cmd).batchResult(done, reply)
}

func batchCancelCommand(s *session) *cobra.Command {
	var v batchVerb
	cmd := &cobra.Command{
		Use:   "cancel ID",
		Short: "End a batch that is PENDING",
		Long: `End a batch that is PENDING. Once it is processed it cannot be stopped; one in
MANUAL_REVIEW is ended by 'gnomon batch review ID cancel'.

Nothing is asked before.`,
		Example:           `  gnomon batch cancel release --comment 'not this week'`,
		Args:              oneBatch,
		ValidArgsFunction: completeBatches(s, gnomonv1.BatchStatus_PENDING),
		RunE: func(cmd *cobra.Command, args []string) error {
			return v.send(cmd, s, "cancelled", func(ctx context.Context, client gnomonv1.BatchServiceClient) (*gnomonv1.Batch, error) {
				return client.CancelBatch(ctx, &gnomonv1.CancelBatchRequest{Id: args[0], Etag: v.etag, RequestId: v.requestID, Comment: v.comment})
			})
		},
	}
	v.register(cmd)
	return cmd
}

func batchRescheduleCommand(s *session) *cobra.Command {
	var v batchVerb
	var when batchTime
	cmd := &cobra.Command{
		Use:   "reschedule ID",
		Short: "Give a batch that is PENDING another time",
		Long: `Give a batch that is PENDING another time. One in MANUAL_REVIEW is rescheduled by
'gnomon batch review ID reschedule'.`,
		Example: `  gnomon batch reschedule release --at 2026-11-22T03:00:00Z
  gnomon batch reschedule release --in 1h --comment 'after the release'`,
		Args:              oneBatch,
		ValidArgsFunction: completeBatches(s, gnomonv1.BatchStatus_PENDING),
		RunE: func(cmd *cobra.Command, args []string) error {
			at, err := when.read(cmd, s.env.now())
			if err != nil {
				return err
			}
			if at == nil {
				return usageErrorf("%s needs --at or --in", cmd.CommandPath())
			}
			return v.send(cmd, s, "rescheduled", func(ctx context.Context, client gnomonv1.BatchServiceClient) (*gnomonv1.Batch, error) {
				return client.RescheduleBatch(ctx, &gnomonv1.RescheduleBatchRequest{
					Id: args[0], ScheduledAt: at, Etag: v.etag, RequestId: v.requestID, Comment: v.comment,
				})
			})
		},
	}
	when.register(cmd, "the new time")
	v.register(cmd)
	return cmd
}

// decisions of a review, and what has become of the batch after each.
var decisions = []struct {
	word, done, help string
	decision         gnomonv1.ReviewBatchRequest_Decision
}{
	{"retry", "retried", "validate what is not finished again, now, and apply it", gnomonv1.ReviewBatchRequest_RETRY},
	{"reschedule", "rescheduled", "the same at another time", gnomonv1.ReviewBatchRequest_RESCHEDULE},
	{"cancel", "cancelled", "end it", gnomonv1.ReviewBatchRequest_CANCEL},
}

func batchReviewCommand(s *session) *cobra.Command {
	var v batchVerb
	var when batchTime
	ids := completeBatches(s, gnomonv1.BatchStatus_MANUAL_REVIEW)
	cmd := &cobra.Command{
		Use:   "review ID retry|reschedule|cancel",
		Short: "Decide about a batch that is in MANUAL_REVIEW",
		Long: `Decide about a batch that is in MANUAL_REVIEW; 'gnomon batch get' shows what stands
against it. Changes that are finished are never touched again.

retry validates what is not finished again, now, and applies it; reschedule does so at
another time; cancel ends the batch.`,
		Example: `  gnomon batch review release retry --comment 'the zone is repaired'
  gnomon batch review release reschedule --in 1h
  gnomon batch review release cancel`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 2 {
				return usageErrorf("%s takes a batch id and one of retry, reschedule and cancel, got %d arguments", cmd.CommandPath(), len(args))
			}
			return nil
		},
		ValidArgsFunction: func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
			if len(args) == 0 {
				return ids(cmd, args, typed)
			}
			if len(args) > 1 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			var words []cobra.Completion
			for _, d := range decisions {
				if strings.HasPrefix(d.word, typed) {
					words = append(words, cobra.CompletionWithDesc(d.word, d.help))
				}
			}
			return words, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			request, done, err := review(cmd, args, &when, s.env.now())
			if err != nil {
				return err
			}
			request.Etag, request.RequestId, request.Comment = v.etag, v.requestID, v.comment
			return v.send(cmd, s, done, func(ctx context.Context, client gnomonv1.BatchServiceClient) (*gnomonv1.Batch, error) {
				return client.ReviewBatch(ctx, request)
			})
		},
	}
	when.register(cmd, "with reschedule: the new time")
	v.register(cmd)
	return cmd
}

// review is the request that arguments and flags of a review make, and what to call the
// batch after it.
func review(cmd *cobra.Command, args []string, when *batchTime, now time.Time) (request *gnomonv1.ReviewBatchRequest, done string, err error) {
	at, err := when.read(cmd, now)
	if err != nil {
		return nil, "", err
	}
	for _, d := range decisions {
		if d.word != args[1] {
			continue
		}
		if d.decision == gnomonv1.ReviewBatchRequest_RESCHEDULE != (at != nil) {
			return nil, "", usageErrorf("--at or --in goes with reschedule, and reschedule needs one of them")
		}
		return &gnomonv1.ReviewBatchRequest{Id: args[0], Decision: d.decision, ScheduledAt: at}, d.done, nil
	}
	return nil, "", usageErrorf("a review is retry, reschedule or cancel, not %q", args[1])
}

// batchResult shows the reply to a command: one line for people, the message for
// programs, and a warning for conditions that do not hold.
func (p *printer) batchResult(word string, b *gnomonv1.Batch) error {
	p.warnOf(b.GetId(), b.GetStatus().GetConditions())
	return p.show(b, func() string {
		st := b.GetStatus()
		total := st.GetCompleteChanges() + st.GetFailedChanges() + st.GetPendingChanges()
		line := word + " " + visible(b.GetId()) + ": " + p.style.batchState(st.GetState()) + ", " + counted(int(total), "change")
		if st.GetState() == gnomonv1.BatchStatus_PENDING {
			line += ", due " + p.moment.both(b.GetScheduledAt())
		}
		return line
	})
}
