package metrics

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"time"

	"go.temporal.io/sdk/client"

	"gnomon/store"
)

const (
	// checkTime bounds the checks of one look at readiness.
	checkTime = 2 * time.Second
	// checkedFor is how long a look holds, so that probes cannot flood what is checked.
	checkedFor = time.Second
)

// Check is something that a process needs in order to be ready.
type Check struct {
	// Name is what a person calls it.
	Name string
	// Ask fails while it does not answer.
	Ask func(context.Context) error
}

// Checks are what every process needs: Temporal and the store. A starter whose store is
// down still accepts, which its own /readyz at the REST port says.
func Checks(c client.Client, rows store.Actions) []Check {
	return []Check{TemporalCheck(c), {Name: "store", Ask: rows.Ping}}
}

// TemporalCheck is whether Temporal answers, which is all that an agent needs of others.
func TemporalCheck(c client.Client) Check {
	return Check{Name: "temporal", Ask: func(ctx context.Context) error {
		_, err := c.CheckHealth(ctx, &client.CheckHealthRequest{})
		return err
	}}
}

var (
	errStarting = errors.New("the process starts")
	errStopping = errors.New("the process stops")
)

// probes say whether a process is ready. It is not before Serving and after Stopping.
type probes struct {
	checks []Check
	log    *slog.Logger

	mu     sync.Mutex // held during a look, so that probes that come together share it
	looked time.Time
	found  []error // of each check, as the last look found it

	phase struct {
		sync.Mutex

		err error
	}
}

func newProbes(checks []Check, log *slog.Logger) *probes {
	p := &probes{checks: checks, log: log, found: make([]error, len(checks))}
	p.phase.err = errStarting
	return p
}

func (p *probes) setPhase(err error) {
	p.phase.Lock()
	defer p.phase.Unlock()
	p.phase.err = err
}

func (p *probes) inPhase() error {
	p.phase.Lock()
	defer p.phase.Unlock()
	return p.phase.err
}

// look asks all checks at once, unless that was done within the last second.
func (p *probes) look(ctx context.Context) []error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if time.Since(p.looked) < checkedFor {
		return slices.Clone(p.found)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), checkTime)
	defer cancel()
	found := make([]error, len(p.checks))
	var asked sync.WaitGroup
	for i, c := range p.checks {
		asked.Go(func() { found[i] = c.Ask(ctx) })
	}
	asked.Wait()
	for i, c := range p.checks {
		switch {
		case found[i] != nil && p.found[i] == nil:
			p.log.Warn("What the process needs does not answer.", "what", c.Name, "error", found[i])
		case found[i] == nil && p.found[i] != nil:
			p.log.Info("What the process needs answers again.", "what", c.Name)
		}
	}
	p.found, p.looked = found, time.Now()
	return slices.Clone(found)
}

// ready answers /readyz: 200 if all is well, else 503, with a line for each check. Why
// something does not answer is for the log.
func (p *probes) ready(w http.ResponseWriter, r *http.Request) {
	code, text := http.StatusOK, ""
	if phase := p.inPhase(); phase != nil {
		writeText(w, http.StatusServiceUnavailable, phase.Error()+"\n")
		return
	}
	for i, err := range p.look(r.Context()) {
		state := "ok"
		if err != nil {
			code, state = http.StatusServiceUnavailable, "does not answer"
		}
		text += fmt.Sprintf("%s: %s\n", p.checks[i].Name, state)
	}
	writeText(w, code, text)
}

// live answers /livez: a process that can answer is alive, whatever else is down.
func live(w http.ResponseWriter, _ *http.Request) { writeText(w, http.StatusOK, "ok\n") }

func writeText(w http.ResponseWriter, code int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(code)
	_, _ = io.WriteString(w, text)
}
