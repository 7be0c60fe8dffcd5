package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"gnomon/faults/scenarios"
	"gnomon/faults/verdict"
)

const (
	// lanes is how many scenarios run at once where none of them measures times.
	lanes = 2
	// playWithin bounds one scenario, several times what it takes, so that a run that
	// nobody watches ends.
	playWithin = 30 * time.Minute
)

// played is what came of one scenario.
type played struct {
	scenario scenarios.Scenario
	verdict  *verdict.Verdict
	// err is why there is no verdict.
	err error
}

// player plays one scenario.
type player func(context.Context, scenarios.Scenario) (*verdict.Verdict, error)

// playAll plays the scenarios that must be alone one after the other, then the others
// side by side. One that could not be played does not keep the others from it; only
// the end of ctx does. The results are in the order of some.
func playAll(ctx context.Context, some []scenarios.Scenario, play player) []played {
	all := make([]played, len(some))
	one := func(n int) {
		ctx, cancel := context.WithTimeout(ctx, playWithin)
		defer cancel()
		all[n].scenario = some[n]
		if all[n].err = ctx.Err(); all[n].err == nil {
			all[n].verdict, all[n].err = play(ctx, some[n])
		}
		if all[n].err == nil && all[n].verdict == nil {
			all[n].err = fmt.Errorf("%s: there is no verdict", some[n].Name)
		}
	}
	together := make(chan int, len(some))
	for n, s := range some {
		if s.Alone {
			one(n)
		} else {
			together <- n
		}
	}
	close(together)
	var running sync.WaitGroup
	for range lanes {
		running.Go(func() {
			for n := range together {
				one(n)
			}
		})
	}
	running.Wait()
	return all
}
