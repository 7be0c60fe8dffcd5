package scenarios

import (
	"context"
	"sync"
)

// group is goroutines that are awaited together.
type group = sync.WaitGroup

// beside runs a load beside what a scenario injects and ends it after that.
func beside(ctx context.Context, load func(context.Context), inject func() error) error {
	ctx, stop := context.WithCancel(ctx)
	var all group
	all.Go(func() { load(ctx) })
	err := inject()
	stop()
	all.Wait()
	return err
}
