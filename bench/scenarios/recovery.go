package scenarios

import (
	"context"
	"fmt"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"gnomon/bench/contenders"
	"gnomon/bench/report"
	"gnomon/receiver"

	gnomonv1 "gnomon/api/gnomon/v1"
)

const (
	heartbeat = 2 * time.Second
	// retryDelay is what the policy below gives after the first failure.
	retryDelay    = time.Second
	recoveryLimit = heartbeat + retryDelay + time.Second
	// youngProcess is how old a worker is at most that asks before each attempt: the
	// one that takes over is older.
	settleWorkers = 2 * time.Second
)

// Recovery kills the worker of an attempt (SIGKILL) and measures when another worker's
// attempt arrives.
func (b *Bench) Recovery(ctx context.Context, rounds int) error {
	var over []float64
	for round := range rounds {
		b.Tell("recovery after kill -9, round %d of %d", round+1, rounds)
		took, err := b.recover(ctx)
		if err != nil {
			return err
		}
		over = append(over, (took - recoveryLimit).Seconds())
	}
	b.Report.Target("recovery_seconds_over_limit", string(b.Site.Kind), report.SpreadOf(over), fmt.Sprintf("the limit is %s", recoveryLimit))
	return nil
}

// recover is how long after the kill the next attempt arrived.
func (b *Bench) recover(ctx context.Context) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	b.batches++
	queue := fmt.Sprintf("recovery-%d", b.batches)
	victim, address, err := b.Site.Process(ctx, queue, "--heartbeat-timeout", heartbeat.String())
	if err != nil {
		return 0, err
	}
	defer victim.Kill()
	g, err := contenders.DialGnomon(address)
	if err != nil {
		return 0, err
	}
	defer g.Close()
	jobs, prefix := b.jobs(g, 1, func(int) time.Time { return time.Now() })
	path := "/block" + prefix
	a := contenders.Action(jobs[0])
	a.GetSpec().GetAction().GetHttpRequest().Url = b.Site.Inbox.URL(path)
	a.GetSpec().GetSendPolicy().GetSendOncePolicy().RetryPolicy = &gnomonv1.RetryPolicy{
		MaxRetries: 3, RestartPeriodScale: durationpb.New(0), RestartPeriodBackOff: 1,
		MinRestartPeriod: durationpb.New(retryDelay), MaxRestartPeriod: durationpb.New(retryDelay),
	}
	if _, err := g.Actions.CreateAction(ctx, &gnomonv1.CreateActionRequest{Action: a}); err != nil {
		return 0, err
	}
	arrived := func(n int) (receiver.Arrival, error) {
		seen := 0
		return b.Site.Inbox.Wait(ctx, func(a receiver.Arrival) bool {
			if a.Path == path {
				seen++
			}
			return a.Path == path && seen == n
		})
	}
	if _, err := arrived(1); err != nil {
		return 0, err
	}
	heir, _, err := b.Site.Process(ctx, queue, "--heartbeat-timeout", heartbeat.String(), "--facade=false")
	if err != nil {
		return 0, err
	}
	defer heir.Kill()
	select {
	case <-ctx.Done():
		return 0, ctx.Err()
	case <-time.After(settleWorkers):
	}
	killed := victim.Kill()
	second, err := arrived(2)
	b.Site.Inbox.Release()
	return second.Time.Sub(killed), err
}
