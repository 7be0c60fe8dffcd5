package model_test

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"time"

	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"gnomon/action/life"
	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/model"
	"gnomon/store"
)

// catchUp is within what time after an outage the mirror is right again, unless attempts
// go on.
const catchUp = 12 * time.Second

// check compares both sides once everything of an instant has happened.
func (w *world) check() {
	w.server.take()
	performing := w.server.current()
	if w.server.storing || performing != nil && performing.done {
		w.env.RegisterDelayedCallback(w.check, 0)
		return
	}
	w.follow()
	if wake, ok := w.model.Wake(); ok && w.now().After(wake.Add(time.Millisecond)) {
		w.differf("at %s something was due, but nothing happened", clock(wake))
	}
	if performing != nil && performing.mute {
		return
	}
	view := w.ask()
	if what := compare(w.model.Row(), view.GetAction(), view.GetTombstone(), performing != nil || w.unheard); what != "" {
		w.differf("the workflow shows %s", what)
	}
	if !w.rows.Down() {
		w.checkMirror(performing)
	}
	w.watchDue()
}

func (w *world) checkMirror(performing *execution) {
	// Calls of the store go on side by side where one is slow, so that the barrier may be
	// stored before what was offered before it.
	for waiting := 1; waiting > 0; waiting, _ = w.mirror.Backlog() {
		if err := w.mirror.Write(context.Background(), store.Row{Action: &gnomonv1.ScheduledAction{Meta: &gnomonv1.Meta{Id: "barrier"}}}); err != nil {
			panic(err)
		}
	}
	row, ok := w.rows.Row("a")
	if !ok {
		return
	}
	what := compare(w.model.Row(), row.Action, row.Tombstone, w.unheard || performing != nil && w.veiled == performing)
	late := w.now().Sub(w.upAt) > catchUp
	switch {
	case what == "":
		// A write that failed in the outage may still wait, and newer rows for it.
		w.behind = w.behind && !late
	case !w.behind:
		w.differf("the mirror shows %s", what)
	case performing == nil && late:
		w.differf("the mirror did not catch up: it shows %s", what)
	}
}

// judgeEnd compares what is left when the run has closed.
func (w *world) judgeEnd() {
	w.model.Advance(w.now())
	if !w.model.Ended() {
		w.differf("the run closed, but the action has not ended")
	}
	result := &gnomonv1.Status{}
	if err := w.env.GetWorkflowResult(result); err != nil {
		panic(err)
	}
	row, ok := w.rows.Row("a")
	if !ok {
		w.differf("the run closed without a row")
	}
	if !proto.Equal(result, row.Action.GetStatus()) {
		w.differf("the run's result is not what the mirror shows: %v, %v", result, row.Action.GetStatus())
	}
	if what := compare(w.model.Row(), row.Action, row.Tombstone, w.unheard); what != "" {
		w.differf("at the end the mirror shows %s", what)
	}
}

func ended(s gnomonv1.Status_State) bool { return life.Ended(&gnomonv1.Status{State: s}) }

// compare says in what an action differs from the model's. Veiled: attempts go on that
// it is known not to show.
func compare(want model.Row, got *gnomonv1.ScheduledAction, tombstone, veiled bool) string {
	var lines []string
	differ := func(what string, want, got any) {
		if fmt.Sprint(want) != fmt.Sprint(got) {
			lines = append(lines, fmt.Sprintf("%s %v instead of %v", what, got, want))
		}
	}
	st := got.GetStatus()
	differ("Guid", want.GUID, got.GetMeta().GetGuid())
	if !maps.Equal(want.Labels, got.GetMeta().GetLabels()) {
		differ("labels", want.Labels, got.GetMeta().GetLabels())
	}
	if !proto.Equal(want.Spec, got.GetSpec()) {
		differ("spec", describe(want.Spec), describe(got.GetSpec()))
	}
	differ("tombstone", want.Tombstone, tombstone)
	if veiled && want.State == gnomonv1.Status_RETRYING {
		want.State = gnomonv1.Status_RUNNING
	}
	differ("state", want.State, st.GetState())
	dropped := false
	for _, c := range st.GetConditions() {
		dropped = dropped || c.GetType() == "CommandsAccepted" && c.GetStatus() == gnomonv1.Condition_FALSE
	}
	differ("dropped signals", want.SignalsDropped, dropped)
	if !veiled {
		at := "none"
		if st.GetScheduledAt() != nil {
			at = clock(st.GetScheduledAt().AsTime())
		}
		differ("scheduled_at", clock(want.ScheduledAt), at)
		differ("counters", want.Counters, model.Counters{
			Successful: st.GetSuccessfulAttemptsCounter(), Failed: st.GetFailedAttemptsCounter(),
			Interrupted: st.GetInterruptedAttemptsCounter(), Consecutive: st.GetConsecutiveFailuresCounter(),
		})
		differ("current attempt", describeAttempt(want.Current), describeStatus(st.GetCurrentAttemptStatus()))
		differ("last attempt", describeAttempt(want.Last), describeStatus(st.GetLastAttemptStatus()))
	}
	return strings.Join(lines, "; ")
}

func describeAttempt(a *model.Attempt) string {
	if a == nil {
		return "none"
	}
	outcome := map[model.Outcome]gnomonv1.AttemptStatus_Outcome{
		model.Success: gnomonv1.AttemptStatus_SUCCESS, model.Failure: gnomonv1.AttemptStatus_FAILURE,
		model.Permanent: gnomonv1.AttemptStatus_FAILURE, model.Panicked: gnomonv1.AttemptStatus_INTERRUPTED,
		model.Stopped: gnomonv1.AttemptStatus_INTERRUPTED,
		model.Lost:    gnomonv1.AttemptStatus_INTERRUPTED,
	}[a.Outcome]
	return fmt.Sprintf("[%d of %s from %s to %s: %s, key %s]", a.Number, clock(a.Occurrence), clock(a.Start), clock(a.Finish), outcome, a.Key)
}

func describeStatus(a *gnomonv1.AttemptStatus) string {
	if a == nil {
		return "none"
	}
	return fmt.Sprintf("[%d of %s from %s to %s: %s, key %s]", a.GetAttempt(), moment(a.GetOccurrence()), moment(a.GetStartTime()),
		moment(a.GetFinishTime()), a.GetOutcome(), a.GetIdempotencyKey())
}

func moment(t *timestamppb.Timestamp) string {
	if t == nil {
		return "none"
	}
	return clock(t.AsTime())
}

// clock shows a time as the seconds since lives begin, exactly.
func clock(t time.Time) string {
	if t.IsZero() {
		return "none"
	}
	return fmt.Sprintf("%+gs", t.Sub(origin).Seconds())
}

func describe(s *gnomonv1.Spec) string {
	s = proto.CloneOf(s)
	s.Action = nil
	start, deadline := s.GetStartPolicy().GetStartAt(), s.GetSendPolicy().GetDeadline()
	s.StartPolicy.StartAt = nil
	s.SendPolicy.Deadline = nil
	return fmt.Sprintf("start %s deadline %s %s", moment(start), moment(deadline), prototext.MarshalOptions{}.Format(s))
}

func describeCommand(s Step, c model.Command) string {
	text := string(c.Kind)
	if s.Signal {
		text += " (signal)"
	}
	if c.ID != "" {
		text += " id " + c.ID
	}
	if c.Etag != "" {
		text += " etag " + c.Etag
	}
	if c.Spec != nil {
		text += " to " + c.GUID + " " + describe(c.Spec)
	}
	return text
}

func describeOutcome(e Ending) string {
	names := [...]string{"runs", "success", "failure", "permanent failure", "panic", "worker stops", "lost"}
	text := names[e.How]
	if e.Takes > 0 {
		text += fmt.Sprintf(" after %s", e.Takes)
	}
	if e.Unheard {
		text += ", worker lost before it can report"
	}
	if e.How == model.Lost || e.Unheard {
		text += fmt.Sprintf(", noticed %s later", e.Noticed)
	}
	return text
}
