package scenarios

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gnomon/faults/clients"
	"gnomon/faults/record"
	"gnomon/faults/roles"
	"gnomon/faults/site"
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

// trouble is what is wrong with a store: faults, of the wrapper in facade and worker
// round it, and behind, of the double where that is what they connect to.
type trouble struct {
	faults faulty.Faults
	behind roles.Outage
}

// setStore has the stores of facade and worker misbehave, and YDB's double if there is
// one. Befallen is how many of its statements were before.
func (p *play) setStore(ctx context.Context, t trouble) (befallen int, err error) {
	for _, part := range append(p.Workers(), p.Facade) {
		if err := p.Order(ctx, part, roles.Order{Store: &t.faults}); err != nil {
			return 0, err
		}
	}
	if p.rows != site.YDB {
		return 0, nil
	}
	return p.OrderYDB(ctx, t.behind)
}

// unwell has the store be in trouble for a while. Of a store whose own troubles are not
// counted it is told what they come to.
func (p *play) unwell(ctx context.Context, fault, kind string, lasts time.Duration, t trouble, count int) error {
	at := time.Now()
	if _, err := p.setStore(ctx, t); err != nil {
		return err
	}
	if err := passes(ctx, lasts); err != nil {
		return err
	}
	if t.behind.Down {
		if err := p.away(ctx); err != nil {
			return err
		}
	}
	befallen, err := p.setStore(ctx, trouble{})
	if err != nil {
		return err
	}
	if p.rows == site.YDB && !t.behind.Down {
		if count = befallen; count == 0 {
			return fmt.Errorf("%s: no statement was befallen", kind)
		}
	}
	p.inject(fault, kind, at, time.Now(), count, "")
	p.say("the store was unwell: %s", kind)
	return nil
}

// away says that a store that is to be down is.
func (p *play) away(ctx context.Context) error {
	rows, err := p.OpenStore(ctx)
	if err != nil {
		return nil //nolint:nilerr // as it should be
	}
	return errors.Join(errors.New("the store answers, and is to be down"), rows.Close())
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
// (F5). Slow and failing come in several short stretches, each between two healthy ones,
// so that what the machine does meanwhile befalls all of them alike.
func storeFaults(ctx context.Context, p *play) error {
	p.AsShipped()
	if err := p.faultyParts(ctx); err != nil {
		return err
	}
	return beside(ctx, func(load context.Context) { p.steady(ctx, load, "s", "/ok", steadyPace) }, func() error {
		// The first seconds of a process are its own.
		if err := passes(ctx, min(12*time.Second, p.scale.Stretch)); err != nil {
			return err
		}
		for _, s := range troubles(p.rows, p.scale.Stretch) {
			if err := p.stretch(ctx, "F5", record.Healthy, p.scale.Stretch/3); err != nil {
				return err
			}
			if err := p.unwell(ctx, "F5", s.kind, s.lasts, s.trouble, 1); err != nil {
				return err
			}
			// What waited for the store ends now, which is not health to compare with.
			if err := p.stretch(ctx, "F5", record.Aftermath, s.settles); err != nil {
				return err
			}
		}
		return p.stretch(ctx, "F5", record.Healthy, p.scale.Stretch/3)
	})
}

// storeTrouble is one of the troubles of F5.
type storeTrouble struct {
	trouble

	kind string
	// lasts is for how long, settles how long after it is not looked at for health.
	lasts, settles time.Duration
}

// troubles are those of F5: in the wrapper round a file, which cannot be away, or in
// YDB's double itself, so that its SDK is in the way too.
func troubles(rows site.Rows, stretch time.Duration) []storeTrouble {
	down, slow, failing := trouble{faults: faulty.Faults{Fail: 1}}, trouble{faults: faulty.Faults{Delay: storeDelay}}, trouble{faults: faulty.Faults{Fail: 0.3}}
	if rows == site.YDB {
		down, slow, failing = trouble{behind: roles.Outage{Down: true}}, trouble{behind: roles.Outage{Delay: storeDelay}}, trouble{behind: roles.Outage{Errors: 0.3}}
	}
	third := stretch / 3
	all := []storeTrouble{{down, record.StoreDown, stretch, 2 * third}}
	for range lagRounds {
		all = append(all, storeTrouble{slow, record.StoreSlow, third, third / 4}, storeTrouble{failing, record.StoreErrors, third, third / 4})
	}
	return all
}

// storeDelay is how slow a slow store is.
const storeDelay = 2 * time.Second

const (
	// steadyPace is how often the steady load of F5 and F11 creates an action: in a
	// stretch of 20 s of the full form 200 fall due.
	steadyPace = 100 * time.Millisecond
	// lagRounds is how many stretches there are of each state whose lag is compared: a
	// 99th percentile of a few hundred is the third worst of them, and chance.
	lagRounds = 3
)

// stretch lets a state last.
func (p *play) stretch(ctx context.Context, fault, kind string, d time.Duration) error {
	at := time.Now()
	err := passes(ctx, d)
	p.inject(fault, kind, at, time.Now(), 0, "")
	return err
}
