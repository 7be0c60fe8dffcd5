package activities

import (
	"context"

	"go.temporal.io/sdk/activity"
	"golang.org/x/time/rate"
)

const (
	// turnsPerSecond is how many workflows, whose rows had to wait for the store, go on
	// each second by one worker.
	turnsPerSecond = 10
	// turnsAtOnce may go on without a pause.
	turnsAtOnce = 10
)

// turns has the workflows that waited for a store that was down go on one after the
// other. Their rows stand by then and nothing waits for them, but each costs Temporal as
// much as an attempt: all at once, those of a minute made attempts up to 19 s late that
// fell due after it (F5).
type turns struct{ limit *rate.Limiter }

func newTurns() turns { return turns{rate.NewLimiter(turnsPerSecond, turnsAtOnce)} }

// wait waits for the turn of an activity. One that succeeds at once needs none. It fails
// where its turn would come after its timeout: then it is tried again.
func (t turns) wait(ctx context.Context) error {
	if !activity.IsActivity(ctx) || activity.GetInfo(ctx).Attempt < 2 {
		return nil
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := activity.GetWorkerStopChannel(ctx)
	ended := make(chan struct{})
	defer close(ended)
	go func() {
		select {
		case <-stop:
			cancel()
		case <-ended:
		}
	}()
	return t.limit.Wait(ctx)
}
