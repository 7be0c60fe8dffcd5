package scenarios

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"gnomon/bench/contenders"
)

// created is how a batch was created.
type created struct {
	took  time.Duration
	calls []time.Duration
}

func (c created) rate() float64 { return float64(len(c.calls)) / c.took.Seconds() }

// create has clients create jobs, each its next when its last is answered.
func create(ctx context.Context, c contenders.Contender, jobs []contenders.Job, clients int) (created, error) {
	done := created{calls: make([]time.Duration, len(jobs))}
	began, err := together(ctx, clients, len(jobs), func(ctx context.Context, i int) error {
		from := time.Now()
		if err := c.Create(ctx, jobs[i]); err != nil {
			return fmt.Errorf("create %s: %w", jobs[i].ID, err)
		}
		done.calls[i] = time.Since(from)
		return nil
	})
	done.took = time.Since(began)
	return done, err
}

// together has clients do n things, each its next when its last is done, and says when they
// began. The first error ends them all.
func together(ctx context.Context, clients, n int, do func(context.Context, int) error) (time.Time, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Int64
	var running sync.WaitGroup
	began := time.Now()
	for range clients {
		running.Go(func() {
			for i := int(next.Add(1)) - 1; i < n && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				if err := do(ctx, i); err != nil {
					cancel(err)
				}
			}
		})
	}
	running.Wait()
	return began, context.Cause(ctx)
}
