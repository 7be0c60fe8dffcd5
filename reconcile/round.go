package reconcile

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"go.temporal.io/api/workflowservice/v1"
	"golang.org/x/sync/errgroup"
	"golang.org/x/time/rate"

	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/store"
)

// looking is how many looks are under way together.
const looking = 8

// round is one round under way.
type round struct {
	Config

	limit *rate.Limiter
	// answers says that a workflow has answered, silences how many have not.
	answers  atomic.Bool
	silences atomic.Int64

	mu     sync.Mutex // guards cursor while a page is looked at
	cursor Cursor
}

// Run makes one round, or what is left of it after a cursor, and reports. It fails
// when the store or Temporal does; the report is then of what was done, and the last
// cursor that Config.Progress heard is where to go on.
func Run(ctx context.Context, c Config, from Cursor) (Report, error) {
	c = c.withDefaults()
	if err := c.validate(); err != nil {
		return Report{}, fmt.Errorf("reconcile: %w", err)
	}
	r := &round{Config: c, limit: rate.NewLimiter(rate.Limit(c.Rate), max(1, int(c.Rate/4))), cursor: from}
	if r.cursor.Phase == "" {
		r.cursor.Phase = PhaseWorkflows
		r.cursor.Report = Report{DryRun: c.DryRun, Began: c.Now().UTC().Truncate(time.Millisecond)}
	}
	err := r.run(ctx)
	if err != nil && ctx.Err() != nil {
		err = fmt.Errorf("the round was stopped: %w", context.Cause(ctx))
	}
	r.cursor.Report.Took = c.Now().Sub(r.cursor.Report.Began).Round(time.Millisecond).Seconds()
	return r.cursor.Report, err
}

func (r *round) run(ctx context.Context) error {
	for r.cursor.Phase != PhaseDone {
		var err error
		switch r.cursor.Phase {
		case PhaseWorkflows:
			err = r.workflows(ctx)
		case PhaseRows:
			err = r.rows(ctx)
		case PhaseOrphans:
			err = r.bury(ctx)
			r.cursor.Phase = PhaseDone
		default:
			err = fmt.Errorf("reconcile: a round has no phase %q", r.cursor.Phase)
		}
		if err != nil {
			return err
		}
		r.Progress(r.snapshot())
	}
	return nil
}

// OpenActions is the visibility query of the open actions of a task queue.
func OpenActions(taskQueue string) string {
	return fmt.Sprintf("WorkflowType = '%s' AND TaskQueue = '%s' AND ExecutionStatus = 'Running'",
		workflowv1.ActionWorkflow, strings.ReplaceAll(taskQueue, "'", "''"))
}

// workflows looks at one page of open workflows.
func (r *round) workflows(ctx context.Context) error {
	page, err := r.Client.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{
		PageSize: int32(r.Page), NextPageToken: r.cursor.Token, Query: OpenActions(r.TaskQueue),
	})
	if err != nil {
		return fmt.Errorf("the open workflows cannot be listed: %w", err)
	}
	var ids []string
	for _, info := range page.GetExecutions() {
		if id, ok := strings.CutPrefix(info.GetExecution().GetWorkflowId(), workflowv1.WorkflowID("")); ok {
			ids = append(ids, id)
		}
	}
	// Those that have a living row are looked at with it.
	rowless := func(ctx context.Context, id string) (*suspect, error) {
		row, err := r.row(ctx, id)
		if err != nil || row != nil && !row.Tombstone {
			return nil, err
		}
		return r.inspect(ctx, id)
	}
	if err := r.each(ctx, ids, rowless); err != nil {
		return err
	}
	r.cursor.Report.Workflows += int64(len(ids))
	r.cursor.Token = page.GetNextPageToken()
	if len(r.cursor.Token) == 0 {
		r.cursor.Phase = PhaseRows
	}
	return nil
}

// rows looks at one page of living rows.
func (r *round) rows(ctx context.Context) error {
	q := store.ActionQuery{Order: store.ByID, Limit: r.Page}
	if r.cursor.After != "" {
		q.After = &store.ActionPosition{ID: r.cursor.After}
	}
	page, err := r.Store.ListActions(ctx, q)
	if err != nil {
		return fmt.Errorf("the rows cannot be listed: %w", err)
	}
	ids := make([]string, len(page))
	for i, row := range page {
		ids[i] = row.Action.GetMeta().GetId()
	}
	if err := r.each(ctx, ids, r.inspect); err != nil {
		return err
	}
	r.cursor.Report.Rows += int64(len(ids))
	if len(page) < r.Page {
		r.cursor.Phase = PhaseOrphans
		return nil
	}
	r.cursor.After = ids[len(ids)-1]
	return nil
}

// each looks at all of a page, several at once, and again at what is suspect.
func (r *round) each(ctx context.Context, ids []string, inspect func(context.Context, string) (*suspect, error)) error {
	suspects := make([]*suspect, len(ids))
	err := r.parallel(ctx, len(ids), func(ctx context.Context, i int) (err error) {
		suspects[i], err = inspect(ctx, ids[i])
		return err
	})
	if err != nil {
		return err
	}
	suspects = slices.DeleteFunc(suspects, func(s *suspect) bool { return s == nil })
	if len(suspects) == 0 {
		return nil
	}
	wait := time.NewTimer(r.Settle)
	defer wait.Stop()
	select {
	case <-wait.C:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return r.parallel(ctx, len(suspects), func(ctx context.Context, i int) error {
		return r.confirm(ctx, suspects[i])
	})
}

// parallel does something for each of n within the rate limit, until one fails.
func (r *round) parallel(ctx context.Context, n int, do func(context.Context, int) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(looking)
	var waited error
	for i := 0; i < n && waited == nil; i++ {
		if waited = r.limit.Wait(ctx); waited == nil {
			group.Go(func() error { return do(ctx, i) })
		}
	}
	return cmp.Or(group.Wait(), waited)
}

func (r *round) note(id string, f Finding, repaired bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	count(&r.cursor.Report, id, f, repaired)
}

func (r *round) orphan(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cursor.OrphanCount++
	if len(r.cursor.Orphans) < r.MaxOrphans {
		r.cursor.Orphans = append(r.cursor.Orphans, id)
	}
}

// snapshot is a cursor that the round does not change any more.
func (r *round) snapshot() Cursor {
	c := r.cursor
	c.Orphans = slices.Clone(c.Orphans)
	c.Report.Found = maps.Clone(c.Report.Found)
	c.Report.Repaired = maps.Clone(c.Report.Repaired)
	c.Report.Items = slices.Clone(c.Report.Items)
	return c
}
