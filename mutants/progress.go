package main

import (
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// progress shows how far a run is: a bar on a terminal, lines elsewhere.
type progress struct {
	out io.Writer
	bar *progressbar.ProgressBar // nil: lines

	mu          sync.Mutex
	step, steps int
}

func newProgress(out *os.File, steps int) *progress {
	p := &progress{out: out, steps: steps}
	if term.IsTerminal(int(out.Fd())) {
		p.bar = progressbar.NewOptions(steps,
			progressbar.OptionSetWriter(out),
			progressbar.OptionShowCount(),
			progressbar.OptionSetPredictTime(true),
			progressbar.OptionShowElapsedTimeOnFinish(),
			progressbar.OptionFullWidth(),
			progressbar.OptionClearOnFinish(),
		)
	}
	return p
}

// tested says that a target passed, or not, without a mutant.
func (p *progress) tested(t target) { p.advance("without a mutant: " + t.String()) }

// ran says what became of a mutant.
func (p *progress) ran(r result) {
	line := fmt.Sprintf("%s: %s", r.Mutant, r.Verdict)
	switch r.Verdict {
	case killed:
		line += fmt.Sprintf(" by %s %s", r.Package, r.Test)
	case stale:
		line += ", " + firstLine(r.Problem)
	case survived:
	}
	p.advance(fmt.Sprintf("%s (%.1f s)", line, r.Seconds))
}

func (p *progress) advance(line string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.step++
	if p.bar == nil {
		fmt.Fprintf(p.out, "[%d/%d] %s\n", p.step, p.steps, line)
		return
	}
	p.bar.Describe(firstLine(line))
	_ = p.bar.Add(1) // a terminal that is gone does not stop the work
}
