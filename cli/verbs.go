package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// verb is a command that takes ids and says one thing to each action.
type verb struct {
	command *cobra.Command
	// done is what has become of the action, in one word.
	done string
	send func(ctx context.Context, client gnomonv1.ActionServiceClient, id string, o verbOptions) (*gnomonv1.ScheduledAction, error)
}

// verbOptions are the flags of the verbs.
type verbOptions struct {
	etag      string
	requestID string
}

func deleteCommand(s *session) *cobra.Command {
	var allowMissing bool
	cmd := verb{
		command: &cobra.Command{
			Use:   "delete ID...",
			Short: "End actions",
			Long: `End actions. An attempt that is running is told to stop; no other begins.

Nothing is asked before.`,
			Example: `  gnomon action delete hello
  gnomon action delete hello report --allow-missing`,
		},
		done: "deleted",
		send: func(ctx context.Context, client gnomonv1.ActionServiceClient, id string, o verbOptions) (*gnomonv1.ScheduledAction, error) {
			return client.DeleteAction(ctx, &gnomonv1.DeleteActionRequest{
				Id: id, Etag: o.etag, RequestId: o.requestID, AllowMissing: allowMissing,
			})
		},
	}.build(s)
	cmd.Flags().BoolVar(&allowMissing, "allow-missing", false, "a missing action is not an error")
	return cmd
}

func pauseCommand(s *session) *cobra.Command {
	return verb{
		command: &cobra.Command{
			Use:   "pause ID...",
			Short: "Let nothing be attempted until resume",
			Long: `Let nothing be attempted until resume. A running attempt may finish, and the
deadline still holds.`,
			Example: "  gnomon action pause hello report",
		},
		done: "paused",
		send: func(ctx context.Context, client gnomonv1.ActionServiceClient, id string, o verbOptions) (*gnomonv1.ScheduledAction, error) {
			return client.PauseAction(ctx, &gnomonv1.PauseActionRequest{Id: id, Etag: o.etag, RequestId: o.requestID})
		},
	}.build(s)
}

func resumeCommand(s *session) *cobra.Command {
	return verb{
		command: &cobra.Command{
			Use:   "resume ID...",
			Short: "End a pause",
			Long: `End a pause. A once-action whose time has passed is performed at once, a periodic
one goes on with its next tick.`,
			Example: "  gnomon action resume hello",
		},
		done: "resumed",
		send: func(ctx context.Context, client gnomonv1.ActionServiceClient, id string, o verbOptions) (*gnomonv1.ScheduledAction, error) {
			return client.ResumeAction(ctx, &gnomonv1.ResumeActionRequest{Id: id, Etag: o.etag, RequestId: o.requestID})
		},
	}.build(s)
}

func triggerCommand(s *session) *cobra.Command {
	return verb{
		command: &cobra.Command{
			Use:   "trigger ID...",
			Short: "Perform now",
			Long: `Perform now: a once-action instead of at its time, a periodic one in addition to
its ticks. Triggers during an attempt become one that follows it.`,
			Example: "  gnomon action trigger hello",
		},
		done: "triggered",
		send: func(ctx context.Context, client gnomonv1.ActionServiceClient, id string, o verbOptions) (*gnomonv1.ScheduledAction, error) {
			return client.TriggerAction(ctx, &gnomonv1.TriggerActionRequest{Id: id, Etag: o.etag, RequestId: o.requestID})
		},
	}.build(s)
}

func (v verb) build(s *session) *cobra.Command {
	var o verbOptions
	cmd := v.command
	cmd.Args = someIDs
	cmd.ValidArgsFunction = completeIDs(s)
	cmd.RunE = func(cmd *cobra.Command, ids []string) error { return v.run(cmd, s, ids, o) }
	cmd.Flags().StringVar(&o.etag, "etag", "", "the guid that must be the current one")
	cmd.Flags().StringVar(&o.requestID, "request-id", "", "makes the call idempotent")
	return cmd
}

// run goes on after a failure, so that one id does not hold up the others.
func (v verb) run(cmd *cobra.Command, s *session, ids []string, o verbOptions) error {
	if len(ids) > 1 && (o.etag != "" || o.requestID != "") {
		return usageErrorf("--etag and --request-id are for one action, got %d ids", len(ids))
	}
	client, closeClient, err := s.connect()
	if err != nil {
		return err
	}
	defer closeClient()
	p := s.printer(cmd)
	report := reportFor(cmd.Root())
	failed := 0
	for _, id := range ids {
		reply, err := v.one(cmd.Context(), s, client, id, o)
		switch {
		case cmd.Context().Err() != nil:
			return cmd.Context().Err()
		case err != nil && len(ids) == 1:
			return err
		case err != nil:
			failed++
			report.write(subjectError{id, err})
			continue
		}
		if err := v.show(p, id, reply, len(ids) > 1); err != nil {
			return err
		}
	}
	if failed > 0 {
		return shownError{fmt.Sprintf("%d of %d actions failed", failed, len(ids))}
	}
	return nil
}

func (v verb) one(ctx context.Context, s *session, client gnomonv1.ActionServiceClient, id string, o verbOptions) (*gnomonv1.ScheduledAction, error) {
	ctx, cancel := s.call(ctx)
	defer cancel()
	return v.send(ctx, client, id, o)
}

func (v verb) show(p *printer, id string, reply *gnomonv1.ScheduledAction, many bool) error {
	show := p.result
	if many {
		show = p.resultOfMany
	}
	if reply.GetMeta().GetId() == "" {
		// The answer to deleting what is not there is an empty action.
		return p.showOneOfMany(reply, func() string { return "missing " + visible(id) })
	}
	return show(v.done, reply)
}
