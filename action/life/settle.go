package life

import (
	"cmp"
	"time"

	"google.golang.org/protobuf/proto"

	"gnomon/action"
	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
)

// Started is what is known of an attempt when it begins.
type Started struct {
	At     time.Time
	Worker string
	RunID  string
}

// Start makes an attempt the running one and publishes the provisional next run:
// its retry, counted from its start, or the next tick (M-27, M-54).
func Start(spec *gnomonv1.Spec, meta *gnomonv1.Meta, p *workflowv1.Progress, a Started) {
	st, o := p.GetStatus(), p.GetOccurrence()
	st.State = gnomonv1.Status_RUNNING
	st.CurrentAttemptStatus = &gnomonv1.AttemptStatus{
		Attempt:        o.GetAttempts() + 1,
		Occurrence:     o.GetDue(),
		StartTime:      Stamp(a.At),
		Worker:         a.Worker,
		RunId:          a.RunID,
		IdempotencyKey: key(meta, o),
	}
	p.AttemptStart = Stamp(a.At)
	st.ScheduledAt = nil
	policy := action.RetryPolicy(spec)
	retry := a.At.Add(action.Delay(policy, o.GetConsecutive()))
	tick, periodic := nextTick(spec, meta.GetId(), o, a.At)
	switch {
	case o.GetAttempts()+1 < action.MaxAttempts(policy) && (!periodic || inTick(spec, retry, tick)):
		st.ScheduledAt = Stamp(retry)
	case periodic:
		st.ScheduledAt = Stamp(tick)
	}
}

// Ending is how an attempt ended.
type Ending struct {
	Outcome gnomonv1.AttemptStatus_Outcome
	// At is when it ended, or when its interruption was noticed.
	At time.Time
	// Permanent: a failure that no retry can mend.
	Permanent bool
	// Immediate: the retry need not wait, as the other side is not to blame.
	Immediate    bool
	Error, Reply string
}

// Verdict is what follows an attempt.
type Verdict int

// Verdicts.
const (
	// Over: the occurrence has ended. The status is the action's end or waits for
	// the next tick.
	Over Verdict = iota
	// Again: a retry at Progress.occurrence.not_before.
	Again
	// Hold: a retry is left, but the deadline comes first.
	Hold
)

// Settle counts an attempt that has ended and decides what follows. The delay
// takes the counter as it was before this attempt (M-24) and runs from the end of
// a failed attempt, from the start of an interrupted one (M-27). The budget counts
// every attempt (M-26) and belongs to the occurrence (M-30).
func Settle(spec *gnomonv1.Spec, meta *gnomonv1.Meta, p *workflowv1.Progress, e Ending) Verdict {
	st, o := p.GetStatus(), p.GetOccurrence()
	start := e.At
	if p.GetAttemptStart() != nil {
		start = p.GetAttemptStart().AsTime()
	}
	record(meta, p, start, e)
	c := o.GetConsecutive()
	o.Attempts++
	switch e.Outcome {
	case gnomonv1.AttemptStatus_SUCCESS:
		st.SuccessfulAttemptsCounter++
		st.ConsecutiveFailuresCounter = 0
		o.Consecutive = 0
		over(spec, meta, p, e.At, gnomonv1.Status_SUCCEEDED)
		return Over
	case gnomonv1.AttemptStatus_INTERRUPTED:
		st.InterruptedAttemptsCounter++
	default:
		st.FailedAttemptsCounter++
	}
	st.ConsecutiveFailuresCounter++
	o.Consecutive = c + 1

	policy := action.RetryPolicy(spec)
	tick, periodic := nextTick(spec, meta.GetId(), o, e.At)
	retry := retryAt(e, start, action.Delay(policy, c))
	if e.Permanent || o.GetAttempts() >= action.MaxAttempts(policy) || periodic && !inTick(spec, retry, tick) {
		over(spec, meta, p, e.At, gnomonv1.Status_FAILED)
		return Over
	}
	st.State = gnomonv1.Status_RETRYING
	o.NotBefore = Stamp(retry)
	st.ScheduledAt = Stamp(retry)
	if action.Expired(spec, retry) {
		return Hold
	}
	return Again
}

// inTick says whether a retry of a periodic action is made: one that would not begin
// before the next tick, or after the deadline, is dropped (M-30).
func inTick(spec *gnomonv1.Spec, retry, tick time.Time) bool {
	return retry.Before(tick) && !action.Expired(spec, retry)
}

// retryAt is when the next attempt may begin.
func retryAt(e Ending, start time.Time, delay time.Duration) time.Time {
	switch {
	case e.Immediate:
		return e.At
	case e.Outcome == gnomonv1.AttemptStatus_INTERRUPTED:
		if t := start.Add(delay); t.After(e.At) {
			return t
		}
		return e.At
	default:
		return e.At.Add(delay)
	}
}

// record turns the running attempt into the last one.
func record(meta *gnomonv1.Meta, p *workflowv1.Progress, start time.Time, e Ending) {
	st, o := p.GetStatus(), p.GetOccurrence()
	last := st.GetCurrentAttemptStatus()
	if last == nil {
		last = &gnomonv1.AttemptStatus{
			Attempt: o.GetAttempts() + 1, Occurrence: o.GetDue(), StartTime: Stamp(start),
			IdempotencyKey: key(meta, o),
		}
	}
	last = proto.CloneOf(last)
	last.FinishTime = Stamp(e.At)
	last.Outcome = e.Outcome
	last.Error = e.Error
	last.Reply = e.Reply
	st.LastAttemptStatus, st.CurrentAttemptStatus = last, nil
	p.AttemptStart = nil
}

// key is the idempotency key of the occurrence, under the Guid that it began with.
func key(meta *gnomonv1.Meta, o *workflowv1.Occurrence) string {
	guid := cmp.Or(o.GetGuid(), meta.GetGuid())
	return action.IdempotencyKey(&gnomonv1.Meta{Id: meta.GetId(), Guid: guid}, o.GetDue().AsTime())
}

// over ends the occurrence: a once-action with it, a periodic one waits for its
// next tick (M-25, M-31).
func over(spec *gnomonv1.Spec, meta *gnomonv1.Meta, p *workflowv1.Progress, at time.Time, end gnomonv1.Status_State) {
	st := p.GetStatus()
	if tick, ok := nextTick(spec, meta.GetId(), p.GetOccurrence(), at); ok {
		st.State = gnomonv1.Status_SCHEDULED
		st.ScheduledAt = Stamp(tick)
	} else {
		st.State = end
		st.ScheduledAt = nil
	}
	p.Occurrence = nil
}

// nextTick is when the occurrence after this one is due: the tick that waited
// while a triggered one ran, or the first strictly after now; ticks missed
// meanwhile collapse (M-29). False for a once-action.
func nextTick(spec *gnomonv1.Spec, id string, o *workflowv1.Occurrence, now time.Time) (time.Time, bool) {
	if !action.Periodic(spec) {
		return time.Time{}, false
	}
	if o.GetWaitingTick() != nil {
		return o.GetWaitingTick().AsTime(), true
	}
	// The attempt may have been timed by a clock a little behind the one that found
	// the occurrence due; its tick must not come twice.
	if due := o.GetDue().AsTime(); due.After(now) {
		now = due
	}
	return action.NextDue(spec, id, now)
}
