package activities

import "time"

const (
	// mirrorCalls is how many calls of the store are under way at once, at the most.
	mirrorCalls = 16
	// mirrorPatience is how long a call is waited for before the next begins beside it.
	// A store that answers within it has one call at a time, each with all that waits. One
	// that does not would otherwise have rows wait for one call and be written by the
	// next, and all of their attempts and workflows told at once: a burst that makes
	// other actions late (F5).
	mirrorPatience = 125 * time.Millisecond
	// mirrorRetry is how long after a failed call the next one is made, doubled with each
	// that fails until mirrorPause: what one failure holds up comes at once too.
	mirrorRetry = 50 * time.Millisecond
	mirrorPause = 500 * time.Millisecond
	// mirrorDown is for how long calls have to fail until those are told who wait for
	// rows: a single failure is mended by the next call, while what they do about it costs
	// Temporal an activity.
	mirrorDown = 1500 * time.Millisecond

	// againSoonest and againLatest bound after how long an activity tries again to have
	// its row stored; the soonest is doubled with each attempt. Nobody but the run that
	// wants to close waits for it: the row itself is written within mirrorPause of the
	// store's return, but for those whose worker died meanwhile. Each try costs the server
	// three writes, for every action that ended while the store was away (F5).
	againSoonest = 5 * time.Second
	againLatest  = 30 * time.Second
)

// pace says when calls of the store begin.
type pace struct {
	tells   time.Duration
	calls   int
	last    time.Time // when the last one began
	failing bool
	since   time.Time // when the first began of those that fail
	// resume is when the next may begin after one failed, pause how long that was waited for.
	resume time.Time
	pause  time.Duration
}

// next is how long from now the next call may begin, or that one has to end before.
func (p *pace) next(now time.Time) (wait time.Duration, ok bool) {
	switch {
	case p.calls == 0:
		return p.resume.Sub(now), true
	case p.calls == mirrorCalls, p.failing:
		return 0, false
	default:
		return p.last.Add(mirrorPatience).Sub(now), true
	}
}

func (p *pace) began(now time.Time) { p.calls, p.last = p.calls+1, now }

// ended notes how a call ended, and says whether the store is down by all that is known.
// After a failure one call at a time shows whether it is back.
func (p *pace) ended(ok bool, now time.Time) (down bool) {
	p.calls--
	if ok {
		p.failing = false
		return false
	}
	if !p.failing {
		p.failing, p.since, p.pause = true, p.last, mirrorRetry/2
	}
	p.pause = min(2*p.pause, mirrorPause)
	p.resume = now.Add(p.pause)
	return now.Sub(p.since) >= p.tells
}

// again is after how long the next attempt of an activity whose row was not stored is
// made: twice as long as the store has been away. What fell due meanwhile so comes back
// to the workflows over a longer time than it came in, and not all at once.
func (m *Mirror) again(attempt int32) time.Duration {
	// Doubled as often as it may be and no more: a number of attempts has no bound.
	wait := againSoonest << min(max(attempt-1, 0), 3)
	if _, oldest := m.Backlog(); !oldest.IsZero() {
		wait = max(wait, 2*time.Since(oldest))
	}
	return min(wait, againLatest)
}
