package scenarios

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gnomon/faults/clients"
	"gnomon/faults/record"
)

const (
	// TopologyActions are performed by [Topology].
	TopologyActions = 1000
	// topologyPace lies between two of its creations.
	topologyPace = 25 * time.Millisecond
	// killEvery lies between two of its kills.
	killEvery = 4 * time.Second
	// facadeDown is how long a facade stays away: as long as it takes to be replaced.
	facadeDown = time.Second
	// topologyFault is what its injections and figures go by.
	topologyFault = "topology"
)

// Topology performs a thousand actions through two facades and two workers, over a
// Temporal on a PostgreSQL and with the rows in YDB's double, as docker-compose.yml has
// them. Each of the four, and Temporal, is killed once and started again meanwhile.
// It is none of [All], since it needs PostgreSQL's programs.
func Topology() Scenario {
	return Scenario{Name: "topology", Faults: []string{topologyFault}, play: topology, production: true}
}

func topology(ctx context.Context, p *play) (err error) {
	for _, start := range []func(context.Context) error{p.StartFacade, p.StartSecond, p.StartWorker, p.StartWorker} {
		if err := start(ctx); err != nil {
			return err
		}
	}
	if p.client, err = clients.Dial(p.Dir, p.GRPC, p.SecondGRPC); err != nil {
		return err
	}
	kills, created := make(chan error, 1), make(chan struct{})
	go func() { kills <- p.killEach(ctx) }()
	go func() {
		defer close(created)
		p.thousand(ctx)
	}()
	<-created
	if err := <-kills; err != nil {
		return err
	}
	served := p.client.Served()
	p.say("answers by facade: %v", served)
	if served[p.GRPC] == 0 || served[p.SecondGRPC] == 0 {
		return errors.New("one of the facades answered nothing")
	}
	return nil
}

// thousand creates the actions and returns when all were answered.
func (p *play) thousand(ctx context.Context) {
	load, stop := context.WithCancel(ctx)
	defer stop()
	every(load, topologyPace, func(n int) {
		if n == TopologyActions-1 {
			stop()
		}
		if n >= TopologyActions {
			return
		}
		path := "/ok"
		if n%20 == 0 {
			path = "/slow/" + attemptsFor.String() // under way when its worker is killed
		}
		p.client.Create(ctx, clients.Who{Client: n}, fmt.Sprintf("a-%d", n), p.Target, record.Spec{
			Path: path, Due: time.Now().Add(between(500*time.Millisecond, 5*time.Second)), Retries: manyRetries, Delay: retryDelay,
		})
	})
}

// killEach kills one part after the other and starts it again.
func (p *play) killEach(ctx context.Context) error {
	for _, kill := range []func(context.Context) (kind string, at time.Time, err error){
		p.killWorker, p.killFacade, p.killTemporal, p.killWorker, p.killSecond,
	} {
		if err := passes(ctx, killEvery); err != nil {
			return err
		}
		kind, at, err := kill(ctx)
		if err != nil {
			return fmt.Errorf("%s: %w", kind, err)
		}
		p.inject(topologyFault, kind, at, time.Now(), 1, "")
		p.say("%s: back after %s", kind, time.Since(at).Round(time.Millisecond))
	}
	return nil
}

func (p *play) killWorker(ctx context.Context) (string, time.Time, error) {
	at := p.KillWorker()
	return record.KillWorker, at, p.StartWorker(ctx)
}

func (p *play) killFacade(ctx context.Context) (string, time.Time, error) {
	at := p.Facade.Kill()
	return record.KillFacade, at, errors.Join(passes(ctx, facadeDown), p.StartFacade(ctx))
}

func (p *play) killSecond(ctx context.Context) (string, time.Time, error) {
	at := p.Second.Kill()
	return record.KillFacade, at, errors.Join(passes(ctx, facadeDown), p.StartSecond(ctx))
}

func (p *play) killTemporal(ctx context.Context) (string, time.Time, error) {
	at := p.Temporal.Kill()
	return record.KillTemporal, at, p.StartTemporal(ctx)
}
