package scenarios

import (
	"context"
	"fmt"
	"time"

	"gnomon/faults/clients"
	"gnomon/faults/record"
	"gnomon/faults/roles"
)

// plantedPerformers has performers panic, loop, hoard memory, not listen, and get a
// reply of 10 MB (F11), beside a steady load that is compared with healthy stretches.
func plantedPerformers(ctx context.Context, p *play) error {
	if err := p.faultyParts(ctx); err != nil {
		return err
	}
	worker := p.Workers()[0]
	err := beside(ctx, func(load context.Context) { p.steady(ctx, load, "p", "/ok", steadyPace) }, func() error {
		if err := passes(ctx, min(12*time.Second, p.scale.Stretch)); err != nil {
			return err
		}
		for range lagRounds {
			if err := p.stretch(ctx, "F11", record.Healthy, p.scale.Stretch/2); err != nil {
				return err
			}
			if err := p.plant(ctx); err != nil {
				return err
			}
			// What was planted last ends before the next stretch.
			if err := passes(ctx, 10*time.Second); err != nil {
				return err
			}
		}
		return p.stretch(ctx, "F11", record.Healthy, p.scale.Stretch/2)
	})
	if !worker.Alive() {
		p.inject("F11", record.Died, time.Now(), time.Time{}, 0, "the worker did not survive: "+worker.Tail())
	}
	return err
}

// plant has one every second, of each kind in turn: that five are due in one instant would
// make others late, whatever they do.
func (p *play) plant(ctx context.Context) error {
	paths := []string{roles.PlantedPanic, roles.PlantedLoop, roles.PlantedMemory, roles.PlantedDeaf, "/big/10485760"}
	at, count := time.Now(), 0
	var all group
	defer all.Wait()
	for time.Since(at) < p.scale.Stretch/2 {
		path := paths[count%len(paths)]
		count++
		all.Go(func() {
			p.client.Create(ctx, clients.Who{}, fmt.Sprintf("%s-%d", record.Planted, p.number()), p.Target,
				record.Spec{Path: path, Due: time.Now()})
		})
		p.say("%d planted", count)
		if err := passes(ctx, time.Second); err != nil {
			return err
		}
	}
	p.inject("F11", record.Planted, at, time.Now(), count, "")
	return nil
}
