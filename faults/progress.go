package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"gnomon/faults/scenarios"
)

// progress is the line that says how far it is: repainted on a terminal, a new one
// every few seconds elsewhere.
type progress struct {
	out   io.Writer
	began time.Time
	total int

	mu       sync.Mutex
	done     int
	terminal bool
	last     time.Time
}

// lineEvery is how often a new line is written where none can be repainted.
const lineEvery = 10 * time.Second

func newProgress(out io.Writer, total int) *progress {
	p := &progress{out: out, total: total, began: time.Now()}
	if f, ok := out.(*os.File); ok {
		info, err := f.Stat()
		p.terminal = err == nil && info.Mode()&os.ModeCharDevice != 0
	}
	return p
}

// of tells of one scenario.
func (p *progress) of(s scenarios.Scenario) func(string, ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done++
	number := p.done
	return func(format string, args ...any) {
		p.mu.Lock()
		defer p.mu.Unlock()
		line := fmt.Sprintf("%6s  %d/%d %s %v: %s", elapsed(p.began), number, p.total, s.Name, s.Faults, fmt.Sprintf(format, args...))
		switch {
		case p.terminal:
			fmt.Fprintf(p.out, "\r\033[K%s", line)
		case time.Since(p.last) >= lineEvery:
			p.last = time.Now()
			fmt.Fprintln(p.out, line)
		}
	}
}

// tellf writes a line that stays.
func (p *progress) tellf(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.terminal {
		fmt.Fprint(p.out, "\r\033[K")
	}
	fmt.Fprintf(p.out, "%6s  %s\n", elapsed(p.began), fmt.Sprintf(format, args...))
}
