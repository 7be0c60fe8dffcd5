package scenarios

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"gnomon/faults/clients"
	"gnomon/faults/record"
)

const (
	// attemptsFor is how long the attempts that are to be killed last.
	attemptsFor = 1500 * time.Millisecond
	// retryDelay is delay(c) of all retries here, the least there is.
	retryDelay = time.Second
	// manyRetries is a budget that no scenario spends.
	manyRetries = 60
	// outageFor is how long no worker runs: longer than a facade waits for one.
	outageFor = 4 * time.Second
	// outageEvery is at how many kills all workers go.
	outageEvery = 8
)

// workers kills workers -9 among attempts of which some have deadlines, and from time
// to time all of them, so that commands are left for the next (F1, F14).
func workers(ctx context.Context, p *play) error {
	if err := p.StartFacade(ctx); err != nil {
		return err
	}
	for range 2 {
		if err := p.StartWorker(ctx); err != nil {
			return err
		}
	}
	if err := p.dial(lossOfF4); err != nil {
		return err
	}
	return beside(ctx, func(load context.Context) {
		every(load, 110*time.Millisecond, func(n int) { p.life(ctx, n) })
	}, func() error {
		if err := passes(ctx, 4*time.Second); err != nil {
			return err
		}
		for n := 1; n <= p.scale.WorkerKills; n++ {
			var err error
			if n%outageEvery == 0 && n < p.scale.WorkerKills {
				err = p.outage(ctx)
				n++
			} else {
				err = p.replace(ctx)
			}
			if err != nil {
				return err
			}
			p.say("%d of %d workers killed", n, p.scale.WorkerKills)
			if err := passes(ctx, between(1500*time.Millisecond, 3500*time.Millisecond)); err != nil {
				return err
			}
		}
		return nil
	})
}

// replace kills one of the workers and starts another.
func (p *play) replace(ctx context.Context) error {
	at := p.KillWorker()
	err := p.StartWorker(ctx)
	p.inject("F1", record.KillWorker, at, time.Now(), 1, "")
	return err
}

// outage kills both workers and starts others after a while, in which commands are
// left with Temporal.
func (p *play) outage(ctx context.Context) error {
	at := p.KillWorker()
	p.KillWorker()
	p.inject("F1", record.KillWorker, at, at, 2, "both")
	if err := passes(ctx, outageFor); err != nil {
		return err
	}
	for range 2 {
		if err := p.StartWorker(ctx); err != nil {
			return err
		}
	}
	p.inject("F1", record.Outage, at, time.Now(), 0, "")
	return nil
}

// life is that of one action of the load.
func (p *play) life(ctx context.Context, n int) {
	id := fmt.Sprintf("w-%d", p.number())
	now := time.Now()
	s := record.Spec{
		Path: "/slow/" + attemptsFor.String(), Due: now.Add(between(time.Second, 6*time.Second)),
		Retries: manyRetries, Delay: retryDelay,
	}
	switch n % 10 {
	case 3: // in the middle of an attempt, or of the wait for another worker
		s.Deadline = s.Due.Add(between(0, 5*time.Second))
	case 6: // in the middle of a retry's wait
		s.Path, s.Deadline = "/status/503", s.Due.Add(between(time.Second, 6*time.Second))
	}
	if !s.Deadline.IsZero() {
		p.Inject(record.Injection{Fault: "F14", Kind: record.DeadlineSet, At: now, ID: id, Count: 1})
	}
	if p.client.Create(ctx, clients.Who{Client: n}, id, p.Target, s).Code != "OK" || n%10 != 1 && n%10 != 8 {
		return
	}
	// Before it is due, in an attempt, or between two.
	if passes(ctx, time.Until(s.Due.Add(between(-500*time.Millisecond, 4*time.Second)))) != nil {
		return
	}
	if rand.IntN(2) == 0 { //nolint:gosec // drawn, not secret
		p.client.Delete(ctx, clients.Who{Client: n}, id)
		return
	}
	p.client.Update(ctx, clients.Who{Client: n}, id, p.Target, record.Spec{
		Path: "/ok", Due: time.Now().Add(between(0, 2*time.Second)), Retries: manyRetries, Delay: retryDelay,
	})
}
