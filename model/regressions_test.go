package model_test

import (
	"testing"
	"time"

	"gnomon/model"
)

// Lives in which product and model once differed, as small as rapid made them.
func TestRegressions(t *testing.T) {
	t.Parallel()
	slow := func(how model.Outcome, takes time.Duration) Ending { return Ending{How: how, Takes: takes} }
	for name, l := range map[string]Life{
		// A trigger at the very due time of a tick made two occurrences with one
		// idempotency key (M-59).
		"trigger at the time of a tick": {
			First: Wish{Start: time.Second, Period: 10 * time.Second},
			Steps: []Step{{AtWake: true, Do: "trigger"}},
		},
		"triggers at the time of a tick": {
			First: Wish{Start: time.Second, Period: 10 * time.Second},
			Steps: []Step{{AtWake: true, Do: "trigger"}, {Do: "trigger"}, {Do: "trigger", Signal: true}},
		},
		// A retry after the deadline was waited for, and kept a trigger from being
		// performed; M-30 says that it is dropped.
		"trigger after a retry beyond the deadline": {
			First: Wish{
				Start: time.Second, Period: time.Minute, Deadline: 10 * time.Second,
				Retry: &Retry{Max: 3, Min: 15 * time.Second, Cap: 15 * time.Second},
			},
			Steps:   []Step{{After: 5 * time.Second, Do: "trigger"}},
			Endings: []Ending{{How: model.Failure}},
		},
		// Resumed within the wait for a retry, it was dropped after a lost worker, and
		// kept after a failure.
		"resume before the retry of a lost attempt": {
			First: Wish{Start: time.Second, Period: time.Minute, Retry: &Retry{Max: 3, Min: 5 * time.Second, Cap: 5 * time.Second}},
			Steps: []Step{
				{After: 2 * time.Second, Do: "pause"},
				{After: time.Second, Do: "resume"},
			},
			Endings: []Ending{{How: model.Lost, Noticed: 500 * time.Millisecond}},
		},
		// Labels changed while a worker was lost: the next attempt of the occurrence went
		// out under another idempotency key (M-59).
		"labels change before a lost attempt is noticed": {
			First:   Wish{Start: time.Second, Retry: &Retry{Max: 1, Min: time.Second, Cap: time.Second}},
			Steps:   []Step{{After: 3 * time.Second, Do: "relabel"}},
			Endings: []Ending{{How: model.Lost, Noticed: 5 * time.Second}},
		},
		// The model's own: a triggered occurrence may begin exactly at the deadline (M-15).
		"trigger when an attempt ends at the deadline": {
			First:   Wish{Start: 4 * time.Second, Period: 6 * time.Second, Deadline: time.Second},
			Steps:   []Step{{After: 4500 * time.Millisecond, Do: "trigger"}},
			Endings: []Ending{slow(model.Failure, time.Second)},
		},
		// The model's own: what a worker noted before it was lost keeps its time, even past.
		"a worker stops and is lost before it can report": {
			First:   Wish{Start: 2 * time.Second, Retry: &Retry{Max: 2, Min: 5 * time.Second, Cap: time.Minute}},
			Steps:   []Step{{After: 2500 * time.Millisecond, Do: "pause"}},
			Endings: []Ending{{How: model.Stopped, Unheard: true, Noticed: 8 * time.Second}},
		},
		// The harness' own: a retry that does not act as the deadline has passed, and an
		// update in the same instant, which the workflow hears of first.
		"update in the instant in which a retry finds the deadline passed": {
			First:   Wish{Start: time.Second, Period: time.Second, Deadline: 1, Retry: &Retry{Max: 1, Min: time.Second, Cap: time.Second}},
			Steps:   []Step{{AtWake: true, After: time.Millisecond, Do: "update", Signal: true, Wish: Wish{Start: time.Second}}},
			Endings: []Ending{{How: model.Stopped}},
		},
		// The harness' own: the worker of an attempt that was given up is lost while that of
		// the attempt after it has been, which nobody has noticed.
		"two workers are lost before they can report": {
			First: Wish{Period: time.Second},
			Steps: []Step{
				{Do: "update", Signal: true, Wish: Wish{Period: time.Second}},
				{After: time.Minute, Do: "pause"},
			},
			Endings: []Ending{
				{How: model.Success, Takes: 30 * time.Second, Noticed: heartbeat, Unheard: true},
				{How: model.Permanent, Noticed: time.Minute, Unheard: true, Deaf: true},
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if what, _ := l.run(false); what != "" {
				t.Fatal(l.tell(what))
			}
		})
	}
}
