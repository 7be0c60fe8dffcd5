package verdict

import (
	"strconv"

	"github.com/anishathalye/porcupine"

	"gnomon/faults/record"
)

// life is the state of one id in the sequential model: what clients may rely on.
type life struct {
	alive, paused bool
	// guid is that of the incarnation, alive or last; "?n" where the call that made it
	// was never answered.
	guid string
	// triggered: an attempt before the due time is wanted.
	triggered bool
	// performing: the occurrence has begun.
	performing bool
	// ended is how the last incarnation did.
	ended string
}

// Steps that are no calls: what the receiver and the store witnessed.
const (
	began    = "began"    // an attempt of a Guid, early or not
	finished = "finished" // it was answered well
	atRest   = "at rest"  // the store at the end
)

// input is one step: a call, or something witnessed.
type input struct {
	op, guid, etag string
	number         int  // of the call, for the Guid of one that was never answered
	early          bool // began: before the spec's due time
	state          string
	known          map[string]bool // Guids that were told in answers
}

// output is how a call was answered; code "" for one that may or may not have
// happened.
type output struct{ code string }

// lives is the sequential model of one id. Creation needs that nothing is alive,
// every other command that something is, and replies name the incarnation.
var lives = (&porcupine.NondeterministicModel{
	Init: func() []any { return []any{life{}} },
	Step: func(state, in, out any) []any {
		s, i, o := state.(life), in.(input), out.(output) //nolint:forcetypeassert,errcheck // ours alone
		var next []any
		for _, n := range step(s, i, o.code) {
			next = append(next, n)
		}
		return next
	},
}).ToModel()

// step gives the states that a step may lead to; none if it cannot have happened here.
func step(s life, i input, code string) []life {
	switch i.op {
	case began:
		return begin(s, i)
	case finished:
		if s.alive && s.performing && s.guid == i.guid {
			s = life{guid: s.guid, ended: "SUCCEEDED"}
		}
		return []life{s}
	case atRest:
		return rest(s, i)
	}
	changed, fits := apply(s, i)
	switch code {
	case "":
		if fits {
			return []life{s, changed}
		}
		return []life{s}
	case "OK":
		if fits {
			return []life{changed}
		}
		if i.op == record.Delete && !s.alive && s.ended == "DELETED" {
			return []life{s} // deleting what was deleted answers with what was left
		}
	case "AlreadyExists":
		return when(i.op == record.Create && s.alive, s)
	case "NotFound":
		return when(i.op != record.Create && !s.alive, s)
	case "Aborted":
		return when(s.alive && i.etag != "" && s.guid != i.etag, s)
	case "FailedPrecondition":
		return when(s.alive && (i.op == record.Resume && !s.paused || i.op == record.Trigger && s.paused), s)
	case "InvalidArgument":
		return []life{s}
	}
	return nil
}

func when(ok bool, s life) []life {
	if ok {
		return []life{s}
	}
	return nil
}

// apply is the effect of a command that is carried out; false if it does not fit. The
// Guid in its reply is that of the incarnation it met, or made.
func apply(s life, i input) (life, bool) {
	makes := i.op == record.Create || i.op == record.Update
	if i.op == record.Create && s.alive || i.op != record.Create && !s.alive {
		return s, false
	}
	if i.etag != "" && s.guid != i.etag {
		return s, false
	}
	if !makes && i.guid != "" {
		var same bool
		if s, same = meets(s, i); !same {
			return s, false
		}
	}
	guid := i.guid
	if guid == "" {
		guid = "?" + strconv.Itoa(i.number)
	}
	switch i.op {
	case record.Create:
		return life{alive: true, guid: guid}, true
	case record.Update:
		return life{alive: true, guid: guid, paused: s.paused}, true
	case record.Delete:
		return life{guid: s.guid, ended: "DELETED"}, true
	case record.Pause:
		s.paused = true
	case record.Resume:
		if !s.paused {
			return s, false
		}
		s.paused = false
	case record.Trigger:
		if s.paused {
			return s, false
		}
		s.triggered = s.triggered || !s.performing
	}
	return s, true
}

// meets says whether a Guid that was seen is that of the incarnation. One whose call
// was never answered takes the first name that no answer told.
func meets(s life, i input) (life, bool) {
	if s.guid != "" && s.guid[0] == '?' && !i.known[i.guid] {
		s.guid = i.guid
	}
	return s, s.guid == i.guid
}

// begin is the start of an occurrence, which nothing may have forbidden.
func begin(s life, i input) []life {
	s, same := meets(s, i)
	if !s.alive || !same || s.paused || s.performing || i.early && !s.triggered {
		return nil
	}
	s.performing, s.triggered = true, false
	return []life{s}
}

// rest is what the store shows in the end.
func rest(s life, i input) []life {
	if i.guid == "" {
		return when(s.guid == "", s)
	}
	s, same := meets(s, i)
	switch {
	case !same:
		return nil
	case s.alive && s.paused:
		return when(i.state == "PAUSED", s)
	case s.alive:
		return when(i.state == "SCHEDULED", s)
	default:
		return when(i.state == s.ended, s)
	}
}
