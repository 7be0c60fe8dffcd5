package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// lineEvery is how often a line is written where no bar can be painted.
const lineEvery = 10 * time.Second

// progress shows how far the run is, in the seconds its steps take as a rule: a bar on
// a terminal, lines elsewhere.
type progress struct {
	out   io.Writer
	bar   *progressbar.ProgressBar // nil where there is no terminal
	began time.Time
	last  time.Time
	all   int
	done  int
	now   string
}

func newProgress(out io.Writer, all []step) *progress {
	p := &progress{out: out, began: time.Now()}
	for _, s := range all {
		p.all += s.seconds
	}
	if f, ok := out.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		p.bar = progressbar.NewOptions(max(1, p.all), progressbar.OptionSetWriter(out), progressbar.OptionClearOnFinish(),
			progressbar.OptionSetWidth(30), progressbar.OptionThrottle(100*time.Millisecond))
	}
	return p
}

// tellf says what is under way.
func (p *progress) tellf(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if p.bar != nil {
		p.bar.Describe(text)
		return
	}
	if time.Since(p.last) >= lineEvery || p.now == "" {
		p.last, p.now = time.Now(), text
		fmt.Fprintf(p.out, "%6s  %3d%%  %s\n", time.Since(p.began).Round(time.Second), 100*p.done/max(1, p.all), text)
	}
}

// step says that a step is over.
func (p *progress) step(s step) {
	p.done += s.seconds
	if p.bar != nil {
		_ = p.bar.Set(p.done)
	}
}

// end takes the bar away.
func (p *progress) end() {
	if p.bar != nil {
		_ = p.bar.Finish()
	}
}
