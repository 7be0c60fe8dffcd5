package site

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// ticksPerSecond is what Linux counts processor time in for everyone.
const ticksPerSecond = 100

// CPU is how much processor time a process took so far, with its threads; 0 where that
// cannot be known.
func CPU(pid int) time.Duration {
	all, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)) // Linux has it
	text := string(all)
	// The name may hold anything, but it ends with the last bracket.
	fields := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
	const user, system = 11, 12
	if len(fields) <= system {
		return 0
	}
	var ticks int64
	for _, f := range fields[user : system+1] {
		n, _ := strconv.ParseInt(f, 10, 64) // 0 for what is none
		ticks += n
	}
	return time.Duration(ticks) * time.Second / ticksPerSecond
}

const (
	// glance is how often Temporal's processor time is looked at, and idle how much of it
	// is none: it polls its queues also where nothing is to be done.
	glance = 200 * time.Millisecond
	idle   = 30 * time.Millisecond
	// glances have to show nothing, one after another.
	glances = 2
)

// Calm waits until Temporal has nothing to do, for as long as that may take at the most,
// and says whether it came to that.
func (s *Site) Calm(ctx context.Context, within time.Duration) bool {
	ticker := time.NewTicker(glance)
	defer ticker.Stop()
	until := time.Now().Add(within)
	last, quiet := CPU(s.temporal.PID()), 0
	for quiet < glances {
		select {
		case <-ctx.Done():
			return false
		case <-ticker.C:
		}
		now := CPU(s.temporal.PID())
		quiet++
		if now-last > idle {
			quiet = 0
		}
		last = now
		if time.Now().After(until) && quiet < glances {
			return false
		}
	}
	return true
}

// CPU is the processor time of Temporal, and of this process: clients, facade, workers
// and receiver.
func (s *Site) CPU() (temporal, here time.Duration) {
	return CPU(s.temporal.PID()), CPU(os.Getpid())
}
