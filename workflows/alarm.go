package workflows

import (
	"time"

	"go.temporal.io/sdk/workflow"
)

// longestTimer bounds one timer; what is due later sleeps several times. It keeps
// durations far from overflow.
const longestTimer = 5 * 365 * 24 * time.Hour

// alarm is the one timer of a run.
type alarm struct {
	timer      workflow.Future
	timerUntil time.Time
	stopTimer  workflow.CancelFunc
}

// arm sleeps until a time, for ever if it is zero. A timer that already sleeps to
// that time is kept, as a new one costs events.
func (a *alarm) arm(ctx workflow.Context, now, until time.Time, summary string) {
	if a.timer != nil && !a.timer.IsReady() && a.timerUntil.Equal(until) {
		return
	}
	a.disarm()
	if until.IsZero() {
		return
	}
	// Rounded up to the server's precision: never early. Bounded first, as the distance
	// to the year 9999 is already as much as a duration holds.
	sleep := (min(until.Sub(now), longestTimer) + time.Millisecond - 1).Truncate(time.Millisecond)
	ctx, a.stopTimer = workflow.WithCancel(ctx)
	a.timer = workflow.NewTimerWithOptions(ctx, sleep, workflow.TimerOptions{Summary: summary})
	a.timerUntil = until
}

func (a *alarm) disarm() {
	if a.timer != nil && !a.timer.IsReady() {
		a.stopTimer()
	}
	a.timer = nil
}
