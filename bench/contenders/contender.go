// Package contenders are the ways to have something done at a time that the benchmark
// compares, each written as its own users would write it: a workflow by hand that
// sleeps (a1) or that is started with a delay (a2), Temporal's Schedules (TS), River on
// PostgreSQL (RV), and gnomon through its facade.
package contenders

import (
	"context"
	"time"
)

// Job is one thing to do: a POST of Body to URL, not before Due. Its id is unique.
type Job struct {
	ID   string
	Due  time.Time
	URL  string
	Body []byte
}

// Contender takes jobs. Its methods may be called concurrently.
type Contender interface {
	// Name is the one in tables: a1, a2, TS, RV, gnomon.
	Name() string
	// Resolution is what due times are rounded up to before they are given to it, so
	// that one that knows whole seconds only is not called late by less than one. 0: any
	// time will do.
	Resolution() time.Duration
	// Create returns once the job is durably accepted.
	Create(ctx context.Context, j Job) error
	// Close stops its workers and gives its connections up.
	Close()
}

// Repeater is a contender that performs a job again and again.
type Repeater interface {
	Contender
	// Repeat has a job performed a number of times, whole seconds apart, first when it is due.
	Repeat(ctx context.Context, j Job, every time.Duration, times int) error
}

// Names of the contenders.
const (
	A1     = "a1"
	A2     = "a2"
	TS     = "TS"
	Lifted = "TS lifted"
	RV     = "RV"
	Gnomon = "gnomon"
)

// Pollers is how many polls of each kind every worker on Temporal keeps open: as many
// as gnomon's do by default.
const Pollers = 16
