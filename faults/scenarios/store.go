package scenarios

import (
	"context"
	"fmt"
	"time"

	"gnomon/faults/clients"
	"gnomon/faults/record"
	"gnomon/faults/roles"
	"gnomon/store/faulty"
)

// faultyParts starts a facade and a worker that take orders, and the client.
func (p *play) faultyParts(ctx context.Context) error {
	if err := p.StartFaultyFacade(ctx, 0); err != nil {
		return err
	}
	if err := p.StartFaultyWorker(ctx); err != nil {
		return err
	}
	return p.dial(0)
}

// setStore has the stores of facade and worker misbehave.
func (p *play) setStore(ctx context.Context, f faulty.Faults) error {
	if err := p.Order(ctx, p.Facade, roles.Order{Store: &f}); err != nil {
		return err
	}
	for _, w := range p.Workers() {
		if err := p.Order(ctx, w, roles.Order{Store: &f}); err != nil {
			return err
		}
	}
	return nil
}

// steady creates one action after another, each due in a moment.
func (p *play) steady(ctx, load context.Context, prefix, path string, pace time.Duration) {
	every(load, pace, func(n int) {
		s := record.Spec{Path: path, Due: time.Now().Add(between(1500*time.Millisecond, 2500*time.Millisecond))}
		if path != "/ok" {
			s.Retries, s.Delay = manyRetries, retryDelay
		}
		p.client.Create(ctx, clients.Who{Client: n}, fmt.Sprintf("%s-%d", prefix, p.number()), p.Target, s)
	})
}

// storeFaults has the store down, slow and failing, with healthy stretches between
// (F5).
func storeFaults(ctx context.Context, p *play) error {
	if err := p.faultyParts(ctx); err != nil {
		return err
	}
	states := []struct {
		kind   string
		lasts  time.Duration
		faults faulty.Faults
	}{
		{record.StoreDown, p.scale.Stretch, faulty.Faults{Fail: 1}},
		{record.StoreSlow, p.scale.Stretch * 2 / 3, faulty.Faults{Delay: 2 * time.Second}},
		{record.StoreErrors, p.scale.Stretch * 2 / 3, faulty.Faults{Fail: 0.3}},
	}
	return beside(ctx, func(load context.Context) { p.steady(ctx, load, "s", "/ok", 150*time.Millisecond) }, func() error {
		// The first seconds of a process are its own.
		if err := passes(ctx, min(12*time.Second, p.scale.Stretch)); err != nil {
			return err
		}
		for _, s := range states {
			if err := p.stretch(ctx, "F5", record.Healthy, p.scale.Stretch/3, 0); err != nil {
				return err
			}
			if err := p.setStore(ctx, s.faults); err != nil {
				return err
			}
			if err := p.stretch(ctx, "F5", s.kind, s.lasts, 1); err != nil {
				return err
			}
			if err := p.setStore(ctx, faulty.Faults{}); err != nil {
				return err
			}
			p.say("the store was unwell: %s", s.kind)
		}
		return p.stretch(ctx, "F5", record.Healthy, p.scale.Stretch/3, 0)
	})
}

// stretch lets a state last.
func (p *play) stretch(ctx context.Context, fault, kind string, d time.Duration, count int) error {
	at := time.Now()
	err := passes(ctx, d)
	p.inject(fault, kind, at, time.Now(), count, "")
	return err
}
