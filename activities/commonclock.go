package activities

import (
	"sync"
	"time"
)

// commonClock tells the time of Temporal's server, by which leases of several workers
// fit together, whatever their own clocks say. Each attempt's start by the server's clock
// bounds from below what time it is there, and the fastest delivery bounds it best. The
// zero commonClock is ready for use.
type commonClock struct {
	mu    sync.Mutex
	start time.Time // of this clock, with its monotonic reading
	// ahead are how far the server's clock is ahead of this one: the greatest of this
	// period and of the one before.
	ahead [2]time.Duration
	known [2]bool
	since time.Time
}

// clockPeriod is how long the best of what was learnt counts at least: clocks drift.
const clockPeriod = 10 * time.Minute

// learn takes that the server's clock was there at least, when this one was here.
func (c *commonClock) learn(server, here time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.start.IsZero() {
		c.start, c.since = here, here
	}
	if here.Sub(c.since) > clockPeriod {
		c.ahead[1], c.known[1] = c.ahead[0], c.known[0]
		c.known[0], c.since = false, here
	}
	if ahead := server.Sub(c.steady(here)); !c.known[0] || ahead > c.ahead[0] {
		c.ahead[0], c.known[0] = ahead, true
	}
}

// steady is the time here, unaffected by steps of the clock.
func (c *commonClock) steady(here time.Time) time.Time { return c.start.Add(here.Sub(c.start)) }

// now is the server's time, or a little less. learn was called before.
func (c *commonClock) now() time.Time { return c.at(time.Now()) }

// at is the server's time when this clock is here.
func (c *commonClock) at(here time.Time) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	ahead := c.ahead[0]
	if c.known[1] {
		ahead = max(ahead, c.ahead[1])
	}
	return c.steady(here).Add(ahead)
}
