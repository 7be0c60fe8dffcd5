package serve

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"gnomon/reconcile"
	"gnomon/store/open"
)

// Reconcile is the command `gnomon reconcile`: one round.
func Reconcile() *cobra.Command {
	s := &settings{}
	c := reconcile.Config{}
	cmd := &cobra.Command{
		Use:   "reconcile",
		Short: "Compare the store's rows with Temporal and repair them",
		Long: `reconcile compares the open actions in Temporal with the rows in the store, once, and repairs rows that are missing, stale, resurrected or orphaned. It never touches an action. A worker has to run, which answers for the open actions.

The exit code is 0 if nothing was wrong or all was repaired, and 1 otherwise, which includes what a dry run found.`,
		Example: "  gnomon reconcile --dry-run --store sqlite:gnomon.db\n  gnomon reconcile --rate 20 -o json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := fromEnvironment(cmd); err != nil {
				return err
			}
			format, err := formatOf(cmd)
			if err != nil {
				return err
			}
			report, err := s.reconcile(cmd, c)
			if err != nil {
				return err
			}
			if err := writeReport(cmd.OutOrStdout(), format, report); err != nil {
				return err
			}
			return verdict(report)
		},
	}
	s.connectionFlags(cmd)
	f := cmd.Flags()
	f.BoolVar(&c.DryRun, "dry-run", false, "only show what would be repaired")
	f.Float64Var(&c.Rate, "rate", reconcile.DefaultRate, "actions to look at a second")
	f.DurationVar(&c.Grace, "grace", reconcile.DefaultGrace, "leave alone what was changed this recently")
	f.IntVar(&c.MaxOrphans, "max-orphans", reconcile.DefaultMaxOrphans, "bury no row without a workflow if there are more than these, -1 for no limit")
	return cmd
}

// reconcile makes the round and shows how far it is.
func (s *settings) reconcile(cmd *cobra.Command, c reconcile.Config) (reconcile.Report, error) {
	ctx := cmd.Context()
	log, err := s.logger(cmd.ErrOrStderr())
	if err != nil {
		return reconcile.Report{}, err
	}
	temporal, _, err := s.dial(ctx, fmt.Sprintf("gnomon-reconcile@%d", os.Getpid()), log)
	if err != nil {
		return reconcile.Report{}, err
	}
	defer temporal.Close()
	rows, err := open.Current(ctx, s.store)
	if err != nil {
		return reconcile.Report{}, err
	}
	defer rows.Close()
	c.Client, c.Store, c.TaskQueue = temporal, rows, s.taskQueue
	shown := newProgress(cmd.ErrOrStderr(), openActions(ctx, temporal, s.taskQueue), time.Now)
	c.Progress = shown.at
	report, err := reconcile.Run(ctx, c, reconcile.Cursor{})
	shown.end()
	return report, err
}

// openActions is about how many actions are open, 0 if that is not known.
func openActions(ctx context.Context, c client.Client, taskQueue string) int64 {
	reply, err := c.CountWorkflow(ctx, &workflowservice.CountWorkflowExecutionsRequest{Query: reconcile.OpenActions(taskQueue)})
	if err != nil {
		return 0
	}
	return reply.GetCount()
}

// verdict is the error that makes the exit code 1.
func verdict(r reconcile.Report) error {
	switch {
	case r.Left() > 0 && r.DryRun:
		return fmt.Errorf("%d rows are not as they should be; run without --dry-run to repair them", r.Left())
	case r.Left() > 0:
		return fmt.Errorf("%d rows are not as they should be and could not be repaired", r.Left())
	case r.Unjudged() > 0:
		return fmt.Errorf("nothing can be said of %d actions: does a worker run, and are namespace and task queue right?", r.Unjudged())
	default:
		return nil
	}
}
