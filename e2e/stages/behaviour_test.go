package stages

import (
	"math/rand/v2"
	"time"
)

// number is a number of a content or a state, 0 if there is none.
func number(in map[string]any, field string) float64 {
	n, _ := in[field].(float64)
	return n
}

// turns is how often ping and pong answer each other after a change.
const turns = 2

// behaviour is what one of the stages does. The client writes n, which counts its puts,
// and s, which changes with every third; a put replaces the content and so removes what
// the stages wrote.
type behaviour struct {
	// wants says what is to be written, nil for nothing, and the number that goes into
	// the state. It depends on the content and the state alone.
	wants func(content, state map[string]any) (patch map[string]any, n float64)
	// takes is how long Process takes.
	takes func() time.Duration
	// timer is how long after a change the stage wants to visit; 0: at once.
	timer time.Duration
	// fails is how often of one time a call fails.
	fails float64
}

// copies has a stage write n into a field of its own.
func copies(field string) func(content, state map[string]any) (map[string]any, float64) {
	return func(content, _ map[string]any) (map[string]any, float64) {
		n := number(content, "n")
		if number(content, field) == n {
			return nil, n
		}
		return map[string]any{field: n}, n
	}
}

func exactly(d time.Duration) func() time.Duration { return func() time.Duration { return d } }

var behaviours = map[string]behaviour{
	"quick": {wants: copies("quick"), takes: exactly(0), fails: 0.05},
	"timer": {wants: copies("timed"), takes: exactly(0), timer: 1500 * time.Millisecond},
	"ping": {takes: exactly(2 * time.Millisecond), wants: func(content, _ map[string]any) (map[string]any, float64) {
		n, ping := number(content, "n"), number(content, "ping")
		switch {
		case number(content, "pingN") != n:
			return map[string]any{"pingN": n, "ping": 1.0}, n
		case number(content, "pongN") == n && number(content, "pong") == ping && ping < turns:
			return map[string]any{"ping": ping + 1}, n
		}
		return nil, n
	}},
	"pong": {takes: exactly(2 * time.Millisecond), wants: func(content, _ map[string]any) (map[string]any, float64) {
		n, ping := number(content, "pingN"), number(content, "ping")
		if n == 0 || number(content, "pongN") == n && number(content, "pong") == ping {
			return nil, n
		}
		return map[string]any{"pongN": n, "pong": ping}, n
	}},
	// slow remembers in its state alone what it has seen.
	"slow": {takes: func() time.Duration { return 100*time.Millisecond + rand.N(200*time.Millisecond) }, wants: func(content, state map[string]any) (map[string]any, float64) {
		s := number(content, "s")
		if number(state, "n") == s {
			return nil, s
		}
		return map[string]any{"slow": s}, s
	}},
	"rated": {wants: copies("rated"), takes: exactly(5 * time.Millisecond)},
	"wide":  {wants: copies("wide"), takes: exactly(wideTakes)},
}

// wideTakes is how long a call of the stage with few at a time takes.
const wideTakes = 500 * time.Millisecond

// interests are the fields of which a stage wants to hear.
var interests = map[string][]string{
	"quick": {"n"}, "timer": {"n"}, "ping": {"n", "pong", "pongN"}, "pong": {"ping", "pingN"}, "slow": {"s"},
}

// settled says what an entity's content and a stage's state lack when all is quiet.
func settled(stage string, content, state map[string]any) (lacks string) {
	patch, _ := behaviours[stage].wants(content, state)
	if patch != nil {
		return stage + " has still to do"
	}
	if stage == "ping" && (number(content, "ping") != turns || number(content, "pong") != turns) {
		return "ping and pong did not end"
	}
	return ""
}
