package model_test

import (
	"time"

	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"
	"pgregory.net/rapid"

	"gnomon/action"
	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/model"
)

// Life is all that happens to one action from outside: the script that product and
// model are both given.
type Life struct {
	First Wish
	// Unseen: the facade that created it died before its first row was written.
	Unseen bool
	// Young: its attempts run in a process that began just now, and ask first.
	Young bool
	Steps []Step
	// Endings of the attempts, in the order they begin in; more attempts succeed.
	Endings []Ending
}

// Wish is a spec relative to the moment at which it is asked for.
type Wish struct {
	Start    time.Duration
	Jitter   time.Duration
	Period   time.Duration // 0: once, or by the calendar
	Minutes  int           // by the calendar, every so many minutes; 0: not
	Deadline time.Duration // 0: none; from Start
	Retry    *Retry
}

// Retry is a RetryPolicy.
type Retry struct {
	Max             uint32
	Scale, Min, Cap time.Duration
	BackOff         float64
}

// Step is something that happens to the action.
type Step struct {
	// After the step before; or, where AtWake is set, when next something is due.
	After  time.Duration
	AtWake bool
	Do     string
	Signal bool // the command is not an update but a signal
	Lazy   bool // a signal that is found together with what comes next in this instant
	Etag   string
	Named  bool // the command has an id
	Again  bool // and is that of the step before once more
	Unsure bool // an update brings no Guid of its own
	Wish   Wish
}

// Steps that are not commands.
const (
	storeDown = "store-down"
	storeUp   = "store-up"
	asNew     = "continue-as-new"
	temporals = "temporal-cancel"
)

// Ending is how an attempt ends.
type Ending struct {
	How   model.Outcome
	Takes time.Duration
	// Of one that is Lost: when that is noticed after it; whether the process lives on
	// apart, and writes; whether it sent a heartbeat.
	Noticed time.Duration
	Ghost   bool
	Beats   bool
	// Unheard: its worker is lost just before it can report, which is Noticed later.
	Unheard bool
	// Deaf: when cancelled, it goes on as if it were not.
	Deaf bool
}

var seconds = rapid.Map(rapid.SampledFrom([]int{0, 1, 1, 2, 2, 3, 4, 5, 6, 8, 10, 15, 30, 60}),
	func(n int) time.Duration { return time.Duration(n) * time.Second })

// coarse durations, so that things coincide.
var coarse = rapid.OneOf(seconds, seconds, seconds,
	rapid.Map(rapid.SampledFrom([]int{1, 100, 500, 999, 1001, 1500, 2500}), func(n int) time.Duration {
		return time.Duration(n) * time.Millisecond
	}))

func chance(t *rapid.T, name string, percent int) bool {
	// Towards the smaller is towards false.
	return rapid.IntRange(0, 99).Draw(t, name) >= 100-percent
}

var lives = rapid.Custom(func(t *rapid.T) Life {
	l := Life{First: wishes.Draw(t, "first"), Unseen: chance(t, "unseen", 5), Young: chance(t, "young", 20)}
	l.Steps = rapid.SliceOfN(steps, 0, 12).Draw(t, "steps")
	l.Endings = rapid.SliceOfN(endings, 0, 16).Draw(t, "endings")
	return l
})

var wishes = rapid.Custom(func(t *rapid.T) Wish {
	w := Wish{Start: coarse.Draw(t, "start")}
	if chance(t, "past", 15) {
		w.Start = -rapid.SampledFrom([]time.Duration{time.Second, 90 * time.Second, 10 * time.Minute}).Draw(t, "ago")
	}
	switch rapid.IntRange(0, 9).Draw(t, "kind") {
	case 5, 6, 7, 8:
		w.Period = max(time.Second, coarse.Draw(t, "period"))
	case 9:
		w.Minutes = rapid.SampledFrom([]int{1, 2, 5}).Draw(t, "minutes")
	}
	if chance(t, "deadline", 35) {
		w.Deadline = coarse.Draw(t, "until") - rapid.SampledFrom([]time.Duration{0, 0, 0, 2 * time.Second}).Draw(t, "less")
		if w.Deadline == 0 {
			w.Deadline = 1 // just after the start, which is as good as at it
		}
	}
	if chance(t, "jitter", 10) {
		w.Jitter = time.Duration(rapid.IntRange(0, 999_999).Draw(t, "jitter us")) * time.Microsecond
	}
	if chance(t, "retry", 65) {
		r := &Retry{Max: uint32(rapid.IntRange(0, 6).Draw(t, "retries"))}
		r.Scale = rapid.SampledFrom([]time.Duration{0, time.Second, 500 * time.Millisecond, 5 * time.Second}).Draw(t, "scale")
		r.BackOff = rapid.SampledFrom([]float64{0, 1, 2, 0.5, 1.5, 3}).Draw(t, "back off")
		r.Min = rapid.SampledFrom([]time.Duration{time.Second, 1500 * time.Millisecond, 2 * time.Second, 5 * time.Second}).Draw(t, "min")
		r.Cap = r.Min + rapid.SampledFrom([]time.Duration{0, time.Second, 10 * time.Second, time.Minute}).Draw(t, "cap")
		w.Retry = r
	}
	return w
})

var steps = rapid.Custom(func(t *rapid.T) Step {
	s := Step{Do: rapid.SampledFrom([]string{
		"pause", "resume", "trigger", "update", "cancel", "resume", "trigger", "update", "trigger", "pause",
		"malformed", "invalid", "relabel", asNew, asNew, temporals, storeDown, storeUp,
	}).Draw(t, "do")}
	if (s.Do == "cancel" || s.Do == temporals) && !chance(t, "really", 30) {
		s.Do = "trigger"
	}
	if s.Do == storeDown && !chance(t, "really", 40) {
		s.Do = asNew
	}
	switch rapid.IntRange(0, 9).Draw(t, "when") {
	case 0, 1, 2:
		s.After = coarse.Draw(t, "after")
	case 3, 4:
		s.AtWake = true
	case 5:
		s.AtWake, s.After = true, rapid.SampledFrom([]time.Duration{-time.Millisecond, time.Millisecond, time.Second}).Draw(t, "off")
	case 6, 7:
		s.After = 0
	default:
		s.After = seconds.Draw(t, "after") * 2
	}
	s.Signal = chance(t, "signal", 40)
	s.Lazy = s.Signal && chance(t, "lazy", 30)
	s.Etag = rapid.SampledFrom([]string{"", "", "", "right", "right", "wrong", "old"}).Draw(t, "etag")
	s.Named = chance(t, "named", 60)
	s.Again = chance(t, "again", 15)
	s.Unsure = chance(t, "unsure", 30)
	if s.Do == "update" {
		s.Wish = wishes.Draw(t, "wish")
	}
	return s
})

var endings = rapid.Custom(func(t *rapid.T) Ending {
	e := Ending{How: rapid.SampledFrom([]model.Outcome{
		model.Success, model.Failure, model.Failure, model.Failure, model.Success, model.Panicked, model.Lost, model.Permanent, model.Stopped,
	}).Draw(t, "how")}
	if chance(t, "slow", 40) {
		e.Takes = coarse.Draw(t, "takes")
	}
	e.Deaf = chance(t, "deaf", 50)
	e.Unheard = e.How != model.Lost && chance(t, "unheard", 7)
	if e.How == model.Lost || e.Unheard {
		e.Noticed = max(heartbeat, coarse.Draw(t, "noticed"))
	}
	if e.How == model.Lost {
		e.Ghost = chance(t, "ghost", 30)
		e.Beats = chance(t, "beats", 3)
	}
	return e
})

// spec is what is wished for at now, as the facade hands it on.
func (w Wish) spec(now time.Time) *gnomonv1.Spec {
	var policy *gnomonv1.RetryPolicy
	if r := w.Retry; r != nil {
		policy = &gnomonv1.RetryPolicy{
			MaxRetries: r.Max, RestartPeriodScale: durationpb.New(r.Scale), RestartPeriodBackOff: r.BackOff,
			MinRestartPeriod: durationpb.New(r.Min), MaxRestartPeriod: durationpb.New(r.Cap),
		}
	}
	send := &gnomonv1.SendPolicy{}
	switch {
	case w.Minutes > 0:
		cron := "*/" + string(rune('0'+w.Minutes)) + " * * * *"
		send.Policy = &gnomonv1.SendPolicy_SendByCalendarPolicy{SendByCalendarPolicy: &gnomonv1.SendByCalendarPolicy{
			Cron: cron, RetryPolicy: policy,
		}}
	case w.Period > 0:
		send.Policy = &gnomonv1.SendPolicy_SendPeriodicallyPolicy{SendPeriodicallyPolicy: &gnomonv1.SendPeriodicallyPolicy{
			Period: durationpb.New(w.Period), RetryPolicy: policy,
		}}
	default:
		send.Policy = &gnomonv1.SendPolicy_SendOncePolicy{SendOncePolicy: &gnomonv1.SendOncePolicy{RetryPolicy: policy}}
	}
	start := now.Add(w.Start)
	if w.Deadline != 0 {
		send.Deadline = timestamppb.New(start.Add(w.Deadline))
	}
	spec := &gnomonv1.Spec{
		StartPolicy: &gnomonv1.StartPolicy{StartAt: timestamppb.New(start), Jitter: durationpb.New(w.Jitter)},
		SendPolicy:  send,
		Action: &gnomonv1.Action{Action: &gnomonv1.Action_MockAction{MockAction: &gnomonv1.MockAction{
			Behaviour: &gnomonv1.MockAction_Succeed_{Succeed: &gnomonv1.MockAction_Succeed{}},
		}}},
	}
	return action.Normalise(&gnomonv1.ScheduledAction{Spec: spec}).GetSpec()
}

// spread asks the product for the part of the jitter that belongs to a tick.
func spread(id string, tick time.Time, jitter time.Duration) time.Duration {
	due, ok := action.FirstDue(&gnomonv1.Spec{
		StartPolicy: &gnomonv1.StartPolicy{StartAt: timestamppb.New(tick), Jitter: durationpb.New(jitter)},
	}, id)
	if !ok {
		panic("no due time")
	}
	return due.Sub(tick)
}
