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
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	done := created{calls: make([]time.Duration, len(jobs))}
	var next atomic.Int64
	var running sync.WaitGroup
	began := time.Now()
	for range clients {
		running.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(jobs) || ctx.Err() != nil {
					return
				}
				from := time.Now()
				if err := c.Create(ctx, jobs[i]); err != nil {
					cancel(fmt.Errorf("create %s: %w", jobs[i].ID, err))
					return
				}
				done.calls[i] = time.Since(from)
			}
		})
	}
	running.Wait()
	done.took = time.Since(began)
	return done, context.Cause(ctx)
}
