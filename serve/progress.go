package serve

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"gnomon/reconcile"
)

// lineEvery is how often a line is written where no bar can be painted.
const lineEvery = 10 * time.Second

// progress shows how far a round is: a bar on a terminal, lines elsewhere.
type progress struct {
	out  io.Writer
	bar  *progressbar.ProgressBar // nil where there is no terminal
	now  func() time.Time
	last time.Time
}

// newProgress begins to show a round over about so many open actions, each of which is
// looked at as a workflow and as a row.
func newProgress(out io.Writer, open int64, now func() time.Time) *progress {
	p := &progress{out: out, now: now, last: now()}
	if f, ok := out.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		p.bar = newBar(out, open)
	}
	return p
}

func newBar(out io.Writer, open int64) *progressbar.ProgressBar {
	return progressbar.NewOptions64(max(1, 2*open), progressbar.OptionSetWriter(out),
		progressbar.OptionSetDescription("comparing"), progressbar.OptionShowCount(), progressbar.OptionClearOnFinish(),
		progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionSetWidth(30))
}

// at shows a cursor of the round.
func (p *progress) at(c reconcile.Cursor) {
	seen := c.Report.Workflows + c.Report.Rows
	if p.bar != nil {
		p.bar.Describe(fmt.Sprintf("%s, %d wrong", c.Phase, c.Report.Wrong()))
		if seen >= p.bar.GetMax64() {
			p.bar.ChangeMax64(seen + 1) // there are more than were counted
		}
		_ = p.bar.Set64(seen)
		return
	}
	if now := p.now(); now.Sub(p.last) >= lineEvery {
		p.last = now
		fmt.Fprintf(p.out, "%s: %d open workflows and %d rows compared, %d wrong\n", c.Phase, c.Report.Workflows, c.Report.Rows, c.Report.Wrong())
	}
}

// end takes the bar away.
func (p *progress) end() {
	if p.bar != nil {
		_ = p.bar.Finish()
	}
}
