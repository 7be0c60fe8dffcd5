package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/grpc/status"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// checkEvery lies between two looks of entity check --wait and stage rewalk --watch.
const checkEvery = 250 * time.Millisecond

func entityCheckCommand(s *session) *cobra.Command {
	var wait bool
	cmd := &cobra.Command{
		Use:   "check TYPE ID",
		Short: "Show which stages want to visit an entity, and when",
		Long: `Show which stages want to visit an entity, and when: those that wait or visit now, the
oldest first, and those that have armed a timer. It is the entity's workflow that is
asked.

With --wait it is asked until no stage is pending or to be asked; timers may be armed.`,
		Example: `  gnomon entity check offer o-1
  gnomon entity check offer o-1 --wait --timeout 1m`,
		Args:              these(anEntity...),
		ValidArgsFunction: completeEntities(s, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.entities(cmd.Context(), func(ctx context.Context, client gnomonv1.EntityServiceClient) error {
				reply, err := checked(ctx, client, &gnomonv1.CheckEntityRequest{Type: args[0], Id: args[1]}, wait)
				if err != nil {
					return err
				}
				p := s.printer(cmd)
				return p.show(reply, func() string { return p.checkPage(reply) })
			})
		},
	}
	cmd.Flags().BoolVar(&wait, "wait", false, "until no stage is pending")
	return cmd
}

// checked asks once, or until nothing is pending.
func checked(ctx context.Context, client gnomonv1.EntityServiceClient, request *gnomonv1.CheckEntityRequest, wait bool) (*gnomonv1.CheckEntityResponse, error) {
	for {
		reply, err := client.CheckEntity(ctx, request)
		if err != nil || !wait || len(reply.GetPending())+len(reply.GetAsking()) == 0 {
			return reply, err
		}
		if err := pause(ctx, checkEvery); err != nil {
			return nil, status.FromContextError(err).Err()
		}
	}
}

// pause waits for as long as ctx allows.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// checkPage is what is pending, armed and to be asked.
func (p *printer) checkPage(c *gnomonv1.CheckEntityResponse) string {
	var rows [][]string
	for _, one := range c.GetPending() {
		rows = append(rows, []string{visible(one.GetStage()), pendingState(one), p.moment.relative(one.GetEnqueueTime().AsTime()), p.trouble(one)})
	}
	for _, one := range c.GetTimers() {
		rows = append(rows, []string{visible(one.GetStage()), "timer", p.moment.both(one.GetDueTime()), ""})
	}
	parts := []string{"nothing is pending"}
	if rows != nil {
		parts = []string{renderTable(p.style, p.width, []string{"STAGE", "STATE", "SINCE/DUE", "TROUBLE"}, rows)}
	}
	if len(c.GetAsking()) > 0 {
		parts = append(parts, fit("to be asked: "+visible(strings.Join(c.GetAsking(), ", ")), p.width))
	}
	return strings.Join(parts, "\n")
}

func pendingState(one *gnomonv1.CheckEntityResponse_Pending) string {
	switch {
	case one.GetVisiting():
		return "visiting"
	case one.GetBackground():
		return "background"
	default:
		return "waiting"
	}
}

// trouble is why a visit failed, and when the next is.
func (p *printer) trouble(one *gnomonv1.CheckEntityResponse_Pending) string {
	text := ""
	if one.GetFailures() > 0 {
		text = fmt.Sprintf("%s: %s", counted(int(one.GetFailures()), "failure"), visible(shortened(one.GetError(), 120)))
	}
	if at := one.GetNotBefore(); at != nil && at.AsTime().After(p.moment.now()) {
		text = joinNonEmpty("; ", text, "again "+p.moment.relative(at.AsTime()))
	}
	return text
}
