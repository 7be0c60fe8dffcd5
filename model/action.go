// Package model is the specification of a scheduled action's life as a program: small,
// slow and obvious, written from the requirements (the M- numbers) and from the comments
// of the contract, and not from the product. The tests here run random lives through the
// product and through this model and compare them step by step.
//
// A life is driven from outside: New begins it, Advance tells it the time, Command is a
// person's wish and Settle says how an attempt ended. In between it can be looked at.
// Nothing here has a clock, waits, or knows of Temporal or of a store.
package model

import (
	"time"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// Action is one scheduled action at one moment of its life.
type Action struct {
	id, guid string
	labels   map[string]string
	spec     *gnomonv1.Spec
	spread   Spread
	clock    time.Time // when it was last driven

	end       gnomonv1.Status_State // how it ended, once it has
	counters  Counters
	last      *Attempt
	paused    bool
	triggered bool // an occurrence is wanted now, or as soon as the present one has ended
	malformed bool
	applied   []string // ids of commands

	at    time.Time // when the next attempt may begin; zero: there is none
	begun *occurrence
}

// occurrence is one due time and all its attempts.
type occurrence struct {
	guid     string // when it began: labels alone change the action's but not its
	due      time.Time
	tick     time.Time // the tick that waits while a triggered occurrence goes on, or zero
	used     uint64    // attempts that began
	failures uint64    // of them, in a row: c of M-17
	running  *Attempt  // nil between attempts
	kept     bool      // its retry is timed by gnomon itself and not by Temporal
}

// Counters are those of Status (M-36 to M-39).
type Counters struct{ Successful, Failed, Interrupted, Consecutive uint64 }

// Attempt is one attempt as the other side, and Status, see it.
type Attempt struct {
	GUID          string
	Occurrence    time.Time
	Number        uint64 // from 1 within the occurrence
	Key           string // the same for all attempts of one occurrence (M-59)
	Start, Finish time.Time
	Outcome       Outcome
}

// Outcome says how an attempt ended.
type Outcome int

// Outcomes of an attempt.
const (
	Running   Outcome = iota
	Success           // it did what it was to do
	Failure           // the performing failed (M-37)
	Permanent         // it failed, and a retry is not worth it
	Panicked          // it broke, and its process lived to tell (M-38)
	Stopped           // its worker was told to stop: not the other side's fault
	Lost              // its process was lost, or the word of what it did (M-38)
)

// New is an action as the facade accepted it.
func New(now time.Time, id, guid string, labels map[string]string, spec *gnomonv1.Spec, spread Spread) *Action {
	a := &Action{id: id, labels: labels, spread: spread, clock: now}
	a.renew(guid, spec)
	return a
}

// renew is a new incarnation: everything starts afresh (M-42), but an update does not
// unpause, and what was applied stays applied.
func (a *Action) renew(guid string, spec *gnomonv1.Spec) {
	a.guid, a.spec = guid, spec
	a.counters, a.last, a.triggered, a.begun = Counters{}, nil, false, nil
	a.malformed = false
	a.at = a.first()
}

// Ended says whether the life is over.
func (a *Action) Ended() bool { return a.end != gnomonv1.Status_STATE_UNSPECIFIED }

// Running is the attempt that runs, or nil.
func (a *Action) Running() *Attempt {
	if a.begun == nil {
		return nil
	}
	return a.begun.running
}

// Wake is when something happens of itself: an attempt begins or the deadline ends the
// action. False: nothing does.
func (a *Action) Wake() (time.Time, bool) {
	end, bounded := deadline(a.spec)
	at := a.at
	if a.triggered && a.begun == nil || at.Before(a.clock) {
		at = a.clock
	}
	if end.Before(a.clock) {
		end = a.clock
	}
	switch {
	case a.Ended(), a.Running() != nil, a.paused && !bounded:
		return time.Time{}, false
	case bounded && (a.paused || end.Before(at)):
		return end, true
	}
	return at, true
}

// Due says whether an attempt begins at now: exactly at the deadline it may, after it
// never (M-15).
func (a *Action) Due(now time.Time) bool {
	end, bounded := deadline(a.spec)
	return a.come(now) && !a.paused && (!bounded || !now.After(end))
}

// come says whether the time of an attempt has come, whether or not it may begin.
func (a *Action) come(now time.Time) bool {
	return !a.Ended() && a.Running() == nil && (!now.Before(a.at) || a.triggered && a.begun == nil)
}

// Advance does what is due at now and returns the attempt that begins, if one does.
func (a *Action) Advance(now time.Time) *Attempt {
	a.clock = now
	if a.Ended() || a.Running() != nil {
		return nil
	}
	if a.Due(now) {
		return a.attempt(now)
	}
	if a.come(now) && a.paused && a.begun != nil {
		a.begun.kept = true // it came, and was held
	}
	if end, bounded := deadline(a.spec); bounded && !now.Before(end) {
		a.finish(gnomonv1.Status_EXPIRED)
	}
	return nil
}

func (a *Action) attempt(now time.Time) *Attempt {
	if a.begun == nil {
		a.begun = a.occurrence(now)
		a.triggered = false
	}
	o := a.begun
	o.used++
	o.kept = false
	key := a.id + "/" + o.guid + "/" + o.due.UTC().Format(time.RFC3339Nano)
	o.running = &Attempt{GUID: o.guid, Occurrence: o.due, Number: o.used, Key: key, Start: now}
	return o.running
}

// occurrence is the one that begins now: that of the time that has come, or the one
// that a trigger wants, instead of a once-action's time and beside a periodic one's
// ticks. Its due time names it, so no two have the same.
func (a *Action) occurrence(now time.Time) *occurrence {
	switch {
	case once(a.spec) && a.at.After(now):
		return &occurrence{guid: a.guid, due: now}
	case once(a.spec) || !a.triggered:
		return &occurrence{guid: a.guid, due: a.at}
	}
	due := now
	if a.last != nil && !a.last.Occurrence.Before(due) {
		due = a.last.Occurrence.Add(time.Microsecond)
	}
	if due.Equal(a.at) {
		due = due.Add(time.Microsecond)
	}
	return &occurrence{guid: a.guid, due: due, tick: a.at}
}

// Settle says how an attempt ended and when that was known. What an attempt of an
// old spec, or one given up, reports is dropped (M-43).
func (a *Action) Settle(now time.Time, t *Attempt, outcome Outcome) {
	if a.Ended() || t != a.Running() {
		return
	}
	a.clock = now
	o := a.begun
	o.running, a.last = nil, &Attempt{}
	*a.last = *t
	a.last.Finish, a.last.Outcome = now, outcome
	if outcome == Success {
		a.counters.Successful++
		a.counters.Consecutive = 0
		a.over(now, gnomonv1.Status_SUCCEEDED)
		return
	}
	retry := a.retry(now, t.Start, outcome)
	o.failures++
	a.counters.Consecutive++
	if outcome >= Panicked {
		a.counters.Interrupted++
	} else {
		a.counters.Failed++
	}
	end, bounded := deadline(a.spec)
	switch late := bounded && retry.After(end); {
	case outcome == Permanent || !a.mayRetry(now, retry):
		a.over(now, gnomonv1.Status_FAILED)
	default:
		a.at, o.kept = retry, outcome == Lost || late
		a.expire(now)
	}
}

// Unheard says that the worker of an attempt that Settle knows of was lost before it
// could tell, which was noticed only now.
func (a *Action) Unheard(now time.Time) {
	a.clock = now
	if a.begun != nil && a.begun.running == nil && a.begun.used > 0 {
		a.begun.kept = true
	}
	a.expire(now)
}

// retry is M-27: after a failure the delay counts from the failure, after an
// interruption from the attempt's start, but never into the past.
func (a *Action) retry(now, start time.Time, outcome Outcome) time.Time {
	d := delay(retryPolicy(a.spec), a.begun.failures)
	switch at := start.Add(d); {
	case outcome == Failure || outcome == Permanent:
		return now.Add(d)
	case at.After(now) && outcome != Stopped:
		return at
	}
	return now
}

// mayRetry: the budget bounds the attempts of the occurrence (M-23, M-26), and a
// periodic one's retry that would pass the next tick or the deadline is dropped (M-30).
func (a *Action) mayRetry(now, retry time.Time) bool {
	end, bounded := deadline(a.spec)
	switch {
	case a.begun.used >= attempts(retryPolicy(a.spec)):
		return false
	case once(a.spec):
		return true
	}
	return retry.Before(a.nextTick(now)) && (!bounded || !retry.After(end))
}

// nextTick is when the occurrence after this one is due: the tick that waited while a
// triggered one went on, however late it is, or the first after now.
func (a *Action) nextTick(now time.Time) time.Time {
	switch o := a.begun; {
	case !o.tick.IsZero():
		return o.tick
	case o.due.After(now):
		return a.tickAfter(o.due)
	}
	return a.tickAfter(now)
}

// over ends the occurrence: a once-action with it (M-25), while failures never stop a
// periodic one (M-31).
func (a *Action) over(now time.Time, end gnomonv1.Status_State) {
	if once(a.spec) {
		a.finish(end)
		return
	}
	a.at, a.begun = a.nextTick(now), nil
	a.expire(now)
}

// expire ends what ran past its deadline: it was let finish, and has no next (M-15).
func (a *Action) expire(now time.Time) {
	if a.Ended() {
		return
	}
	if end, bounded := deadline(a.spec); bounded && now.After(end) {
		a.finish(gnomonv1.Status_EXPIRED)
	}
}

func (a *Action) finish(s gnomonv1.Status_State) {
	a.end, a.begun, a.triggered, a.at = s, nil, false, time.Time{}
}

// scheduledAt is the next run; during an attempt, when its retry or the next tick
// would be (M-35, M-54). Zero: there is none.
func (a *Action) scheduledAt() time.Time {
	t := a.Running()
	if t == nil {
		return a.at
	}
	retry := t.Start.Add(delay(retryPolicy(a.spec), a.begun.failures))
	switch {
	case a.mayRetry(t.Start, retry):
		return retry
	case once(a.spec):
		return time.Time{}
	}
	return a.nextTick(t.Start)
}

func (a *Action) state() gnomonv1.Status_State {
	switch {
	case a.Ended():
		return a.end
	case a.paused:
		return gnomonv1.Status_PAUSED
	case a.Running() != nil:
		return gnomonv1.Status_RUNNING
	case a.begun != nil:
		return gnomonv1.Status_RETRYING
	}
	return gnomonv1.Status_SCHEDULED
}

// Row is what the mirror holds once it has caught up.
type Row struct {
	GUID           string
	Labels         map[string]string
	Spec           *gnomonv1.Spec
	State          gnomonv1.Status_State
	ScheduledAt    time.Time
	Counters       Counters
	Current, Last  *Attempt
	SignalsDropped bool // one could not be read
	Tombstone      bool
}

// Row shows the action.
func (a *Action) Row() Row {
	return Row{
		a.guid, a.labels, a.spec, a.state(), a.scheduledAt(), a.counters,
		a.Running(), a.last, a.malformed, a.Ended(),
	}
}
