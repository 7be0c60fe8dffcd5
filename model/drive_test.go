package model_test

import (
	"errors"
	"fmt"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"gnomon/activities/performers"
	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/model"
)

// at has something done after a while, in the environment's own loop, after what the
// workflow had asked for before was begun.
func (w *world) at(after time.Duration, do func()) {
	w.env.RegisterDelayedCallback(w.guarded(do), max(after, 0))
}

// soon has something done right before what is sent to the workflow next.
func (w *world) soon(do func()) { w.at(0, do) }

func (w *world) guarded(do func()) func() {
	env := w.env
	return func() {
		if w.env != env {
			return
		}
		w.server.take()
		do()
		w.server.take()
		w.watch()
	}
}

// watch has a look taken right after this instant, and right after the next thing that
// is due.
func (w *world) watch() {
	w.look(w.now().Add(step))
	w.watchDue()
}

func (w *world) watchDue() {
	if wake, ok := w.model.Wake(); ok && wake.After(w.now()) {
		w.look(wake.Add(time.Millisecond + step))
	}
}

func (w *world) look(moment time.Time) {
	if !w.watching[moment] {
		w.watching[moment] = true
		w.env.RegisterDelayedCallback(func() {
			// After what else is under way in this instant.
			w.env.RegisterDelayedCallback(w.check, 0)
		}, moment.Sub(w.now()))
	}
}

// plan has the next steps done at their time.
func (w *world) plan() {
	steps := w.script.Steps[w.done:]
	if len(steps) == 0 {
		w.at(w.rest(), w.leave)
		return
	}
	moment := w.base.Add(steps[0].After)
	if wake, ok := w.model.Wake(); ok && steps[0].AtWake {
		moment = wake.Add(steps[0].After)
	}
	if moment.Before(w.now()) {
		moment = w.now()
	}
	w.at(moment.Sub(w.now()), func() {
		w.base = w.now()
		for lazy := true; lazy; {
			s := w.script.Steps[w.done]
			w.done++
			lazy = false
			if w.done < len(w.script.Steps) {
				next := w.script.Steps[w.done]
				lazy = s.Lazy && s.command() && next.command() && next.After == 0 && !next.AtWake
			}
			w.do(s, lazy)
		}
		w.plan()
	})
}

func (s Step) command() bool {
	switch s.Do {
	case storeDown, storeUp, asNew, temporals:
		return false
	}
	return true
}

// rest is how long the action is watched after the last step.
func (w *world) rest() time.Duration {
	if p := w.model.Row().Spec.GetSendPolicy().GetSendPeriodicallyPolicy(); p != nil {
		return min(max(8*p.GetPeriod().AsDuration(), 10*time.Second), 4*time.Minute)
	}
	return 5 * time.Minute
}

// leave ends the life.
func (w *world) leave() {
	if w.rows.Down() {
		w.do(Step{Do: storeUp}, false)
	}
	if !w.model.Ended() {
		w.do(Step{Do: temporals}, false)
	}
}

func (w *world) do(s Step, lazy bool) {
	switch s.Do {
	case storeDown:
		w.tellf("the store goes down")
		w.rows.SetDown(true)
		w.behind = true
	case storeUp:
		w.tellf("the store is up")
		if w.rows.Down() {
			w.rows.cut()
			w.rows.SetDown(false)
			w.renewMirror()
			w.upAt = w.now()
			w.look(w.now().Add(catchUp + step))
		}
	case asNew:
		w.tellf("continue as new is suggested")
		w.env.SetContinueAsNewSuggested(true)
	case temporals:
		w.send(Step{Signal: true}, model.Command{Kind: model.Cancel}, func() { w.env.CancelWorkflow() })
	case "malformed":
		w.send(Step{Do: s.Do, Signal: true}, model.Command{Kind: model.Malformed}, func() { w.signal("pause", "gibberish", lazy) })
	default:
		w.command(s, lazy)
	}
}

func (w *world) command(s Step, lazy bool) {
	c := model.Command{Kind: model.Kind(s.Do)}
	sent := &workflowv1.Command{}
	if s.Named {
		if !s.Again || w.lastID == "" {
			w.commands++
			w.lastID = fmt.Sprintf("command-%d", w.commands)
		}
		c.ID = w.lastID
	}
	switch s.Etag {
	case "right":
		c.Etag = w.model.Row().GUID
	case "wrong":
		c.Etag = "another"
	case "old":
		c.Etag = w.oldGUID
	}
	if s.Do == "invalid" {
		c.Kind = model.Update
		s.Wish.Start = -11 * time.Minute
		s.Unsure = false
	}
	if s.Do == "relabel" {
		c.Kind = model.Update
		sent.Paths = []string{"meta.labels"}
	}
	if c.Kind == model.Update {
		w.oldGUID = w.model.Row().GUID
		if s.Do != "relabel" {
			c.Spec = s.Wish.spec(w.now())
		}
		if !s.Unsure || lazy {
			c.GUID = w.guid()
		}
		c.Labels = map[string]string{"n": fmt.Sprint(w.commands)}
		sent.Action = &gnomonv1.ScheduledAction{Meta: &gnomonv1.Meta{Id: "a", Guid: c.GUID, Labels: c.Labels}, Spec: c.Spec}
	}
	sent.Id, sent.Etag = c.ID, c.Etag
	if s.Signal {
		w.send(s, c, func() { w.signal(string(c.Kind), sent, lazy) })
		return
	}
	var refused string
	answered := false
	refuse := func(err error) {
		answered = true
		refused = err.Error()
		if e, ok := errors.AsType[*temporal.ApplicationError](err); ok {
			refused = e.Type()
		}
	}
	expected := w.send(s, c, func() {
		w.env.UpdateWorkflow(string(c.Kind), "", &testsuite.TestUpdateCallback{
			OnReject: refuse, OnAccept: func() {},
			OnComplete: func(_ any, err error) {
				answered = true
				if err != nil {
					refuse(err)
				}
			},
		}, sent)
	})
	w.env.RegisterDelayedCallback(func() {
		if !answered {
			w.differf("an update was not answered")
		}
		if want := refusals[*expected]; want != refused {
			w.differf("%s: the model says %q, the product %q", c.Kind, want, refused)
		}
	}, 0)
}

var refusals = map[model.Refusal]string{
	model.Applied: "", model.Aborted: workflowv1.RefusedEtag, model.Invalid: workflowv1.RefusedMalformed,
	model.NotPaused: workflowv1.RefusedNotPaused, model.IsPaused: workflowv1.RefusedPaused, model.NotFound: workflowv1.RefusedNotFound,
}

func (w *world) signal(name string, payload any, lazy bool) {
	if lazy {
		w.env.SignalWorkflowSkippingWorkflowTask(name, payload)
	} else {
		w.env.SignalWorkflow(name, payload)
	}
}

// send gives a command to both sides. What the model makes of it is known once it was
// delivered.
func (w *world) send(s Step, c model.Command, deliver func()) *model.Refusal {
	expected := new(model.Refusal)
	judge := func() {
		before := w.model.Row()
		*expected = w.model.Command(w.now(), c, s.Signal)
		after := w.model.Row()
		if !after.Tombstone && (after.GUID != before.GUID || after.SignalsDropped && *expected == model.Invalid && s.Signal ||
			(after.State == gnomonv1.Status_PAUSED) != (before.State == gnomonv1.Status_PAUSED)) {
			w.veiled = w.server.current() // a row was written
		}
		w.unheard = w.unheard || *expected == model.Applied && w.model.Ended() && w.server.current() != nil
		w.tellf("%s: model %q", describeCommand(s, c), *expected)
	}
	if c.Kind == model.Update && c.GUID == "" {
		w.soon(w.follow) // what was asked for before begins before
		deliver()
		// The product makes the Guid, which the model then takes over.
		w.env.RegisterDelayedCallback(func() {
			c.GUID = w.ask().GetAction().GetMeta().GetGuid()
			judge()
		}, 0)
		return expected
	}
	w.soon(func() {
		w.follow()
		judge()
	})
	deliver()
	return expected
}

// follow: where the product has ended by itself in this very instant, so does the model.
func (w *world) follow() {
	if !w.model.Ended() && ended(w.ask().GetAction().GetStatus().GetState()) {
		if w.model.Advance(w.now()) != nil {
			w.differf("the product ended where the model performs")
		}
	}
}

func (w *world) ask() *workflowv1.CommandResult {
	v, err := w.env.QueryWorkflow(workflowv1.QueryAction)
	if err != nil {
		w.differf("the workflow does not answer: %v", err)
	}
	r := &workflowv1.CommandResult{}
	if err := v.Get(r); err != nil {
		panic(err)
	}
	return r
}

func (w *world) guid() string {
	w.guids++
	return fmt.Sprintf("guid-%d", w.guids)
}

// began is told that the performer was called.
func (w *world) began(t *try, r performers.Request) {
	now := w.now()
	wake, ok := w.model.Wake()
	t.due = w.model.Row().ScheduledAt
	a := w.model.Advance(now)
	if a == nil {
		w.differf("the product performs attempt %d of %s (%s), the model does not", r.Attempt, clock(r.Occurrence), r.GUID)
	}
	w.veiled = nil // from now on the rows of attempts come after the command's
	w.tellf("attempt %d of %s (%s) begins: %s", r.Attempt, clock(r.Occurrence), r.GUID, describeOutcome(w.next()))
	if late := now.Sub(wake); !ok || late < 0 || late > time.Millisecond {
		w.differf("an attempt that is due at %s began at %s", clock(wake), clock(now))
	}
	seen := fmt.Sprint(r.GUID, r.Attempt, clock(r.Occurrence), r.IdempotencyKey)
	if want := fmt.Sprint(a.GUID, uint32(a.Number), clock(a.Occurrence), a.Key); seen != want {
		w.differf("the performer saw %s, the model says %s", seen, want)
	}
	t.model, t.how = a, w.next()
	w.attempts++
	w.at(t.how.Takes, func() { w.server.finish(t) })
}

func (w *world) next() Ending {
	if w.attempts < len(w.script.Endings) {
		return w.script.Endings[w.attempts]
	}
	return Ending{How: model.Success}
}

// refused is told that an attempt did not act. The model hears of it when the workflow
// does: a command of this instant may come first, and then finds the action alive.
func (w *world) refused(t *try) {
	if t.e.over() {
		return
	}
	w.tellf("an attempt does not act")
	if w.model.Due(w.now()) {
		w.differf("the product does not perform an attempt, the model does")
	}
}

// settle tells the model how an attempt ended.
func (w *world) settle(t *try) {
	if t.model == nil {
		if !w.model.Due(w.now()) {
			w.model.Advance(w.now()) // a retry that was held, by a pause or the deadline
		}
		return
	}
	how, when := t.how.How, w.now()
	if t.how.Unheard {
		// Nobody knows how it ended, unless it had noted that before it was lost.
		if t.noted {
			when = t.ended
		} else {
			how = model.Lost
		}
	}
	if how == model.Lost && t.attempt > 1 && t.e.heard().GetAttemptStart() == nil {
		t.model.Start = t.due // a retry that was lost without a word began when it was to
	}
	w.tellf("attempt %d of %s: %s", t.model.Number, clock(t.model.Occurrence), describeOutcome(t.how))
	w.model.Settle(when, t.model, how)
	if t.how.Unheard && t.noted {
		w.model.Unheard(w.now())
	}
}
