package site

import (
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

// CPU is the processor time of Temporal, and of this process: clients, facade, workers
// and receiver.
func (s *Site) CPU() (temporal, here time.Duration) {
	return CPU(s.temporal.PID()), CPU(os.Getpid())
}
