package model

import (
	"slices"
	"time"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// Command is what a person asks of a living action. It may come twice, and as an update
// that is answered or as a signal that is not.
type Command struct {
	Kind Kind
	// ID, where it is not empty: applied once, however often it comes.
	ID string
	// Etag, where it is not empty, is the Guid that the sender has seen.
	Etag string
	// Spec, GUID and Labels are an update's; without a Spec only the labels change.
	Spec   *gnomonv1.Spec
	GUID   string
	Labels map[string]string
	// Accepted is when the facade validated it; zero: it is validated on arrival.
	Accepted time.Time
}

// Kind of a command.
type Kind string

// The commands; Malformed is a signal that nobody can read.
const (
	Update    Kind = "update"
	Pause     Kind = "pause"
	Resume    Kind = "resume"
	Trigger   Kind = "trigger"
	Cancel    Kind = "cancel"
	Malformed Kind = "malformed"
)

// Refusal says why a command changes nothing; "" that it was applied. As a signal it is
// dropped in silence, but where it is Invalid or cannot be read that shows in Status.
type Refusal string

// Reasons to refuse.
const (
	Applied   Refusal = ""
	Aborted   Refusal = "ABORTED"    // the etag is not the Guid
	NotPaused Refusal = "NOT_PAUSED" // nothing to resume
	IsPaused  Refusal = "PAUSED"     // nothing is attempted, triggered or not
	NotFound  Refusal = "NOT_FOUND"  // it has ended
	Invalid   Refusal = "INVALID_ARGUMENT"
)

// Command applies a command at now. Signal tells that nobody hears the refusal.
func (a *Action) Command(now time.Time, c Command, signal bool) Refusal {
	a.clock = now
	switch {
	case c.Kind == Malformed && !a.Ended():
		a.malformed = true
		return Invalid
	case c.ID != "" && slices.Contains(a.applied, c.ID):
		return Applied // before, however it came
	case a.Ended():
		return NotFound
	case c.Etag != "" && c.Etag != a.guid:
		return Aborted
	case c.Kind == Resume && !a.paused:
		return NotPaused
	case c.Kind == Trigger && a.paused:
		return IsPaused
	case c.Kind == Update && c.Spec != nil && !valid(c, now):
		a.malformed = a.malformed || signal
		return Invalid
	}
	if c.ID != "" {
		a.applied = append(a.applied, c.ID)
	}
	switch c.Kind {
	case Cancel:
		a.finish(gnomonv1.Status_DELETED)
	case Pause:
		a.paused = true
	case Resume:
		a.resume(now)
	case Trigger:
		a.trigger(now)
	case Malformed: // refused above
	case Update: // every change has its Guid, and a new spec is a new incarnation (M-07, M-42)
		a.labels, a.guid = c.Labels, c.GUID
		if c.Spec != nil {
			a.renew(c.GUID, c.Spec)
		}
	}
	return Applied
}

// valid is M-11 and M-28, which stand for all of the validation.
func valid(c Command, now time.Time) bool {
	if !c.Accepted.IsZero() {
		now = c.Accepted
	}
	p := c.Spec.GetSendPolicy().GetSendPeriodicallyPolicy()
	return !c.Spec.GetStartPolicy().GetStartAt().AsTime().Before(now.Add(-10*time.Minute)) &&
		(p == nil || p.GetPeriod().AsDuration() >= time.Second)
}

// resume: a once-action whose time has passed is performed at once; a periodic one goes
// on with its next tick, without catching up: a retry whose time passed is dropped.
func (a *Action) resume(now time.Time) {
	a.paused = false
	switch {
	case once(a.spec) || a.Running() != nil:
	case a.begun != nil && (!a.begun.kept || !a.at.Before(now)):
	default:
		a.at, a.begun = a.tickAfter(now), nil
	}
}

// trigger: a once-action is performed now instead of at its time, a periodic one gets
// one occurrence more and keeps its ticks; while an attempt runs, triggers coalesce into
// one that follows it. What follows a once-action's attempt is its retry; where Temporal
// times that, it comes when it was to come.
func (a *Action) trigger(now time.Time) {
	switch {
	case !once(a.spec) || a.begun == nil:
		a.triggered = true
	case a.Running() == nil && a.begun.kept:
		a.at = now
	}
}
