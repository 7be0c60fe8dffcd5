package entity_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/timestamppb"
	"pgregory.net/rapid"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/entity"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

var stages = []string{"a", "b", "c", "d"}

// interests are the fields each stage is asked about; none: all.
var interests = map[string][]string{"a": {"x"}, "b": {"y"}, "c": {"x", "y"}, "d": nil}

// world is an entity in a store, its stages, and all that is on its way between them
// and the workflow, which arrives in any order.
type world struct {
	t   *rapid.T
	now time.Time
	s   *workflowv1.EntityState

	version int64
	// fieldsOf are the fields that each version changed; by whom is byStage.
	fieldsOf map[int64][]string
	byStage  map[int64]string
	// covered is the last version that a stage has seen: asked about, or visited.
	covered map[string]int64

	signals []*workflowv1.EntityChanged
	asks    []ask
	visits  []*visit
	turn    *visit
}

type ask struct {
	in  *workflowv1.AskInput
	out *workflowv1.AskResult // nil until it was executed
}

type visit struct {
	stage      string
	number     uint64
	background bool
	loaded     int64
	out        *workflowv1.VisitResult // nil until it has ended
}

func newWorld(t *rapid.T) *world {
	return &world{
		t: t, now: noon, s: &workflowv1.EntityState{Type: "offer", Id: "1"},
		fieldsOf: map[int64][]string{}, byStage: map[int64]string{}, covered: map[string]int64{},
	}
}

// sayf tells the story of a failure.
func (w *world) sayf(format string, args ...any) {
	w.t.Logf("STORY version %d known %d asked %d: "+format, append([]any{w.version, w.s.GetVersion(), w.s.GetAskedVersion()}, args...)...)
}

func (w *world) draw(name string, n int) int { return rapid.IntRange(0, n-1).Draw(w.t, name) }

// change makes a new version.
func (w *world) change(by string) []string {
	fields := [][]string{{"x"}, {"y"}, {"x", "y"}, {"z"}}[w.draw("fields", 4)]
	w.version++
	w.fieldsOf[w.version], w.byStage[w.version] = fields, by
	w.sayf("%q changed %v", by, fields)
	return fields
}

// concerns says whether a version that a stage has not seen is of interest to it.
func (w *world) concerns(stage string) bool {
	for v := w.covered[stage] + 1; v <= w.version; v++ {
		if w.byStage[v] == stage {
			continue
		}
		for _, f := range w.fieldsOf[v] {
			if interests[stage] == nil || slices.Contains(interests[stage], f) {
				return true
			}
		}
	}
	return false
}

func (w *world) put() {
	fields := w.change("")
	if rapid.Bool().Draw(w.t, "facade died after the put") && w.draw("often", 4) == 0 {
		return // the outbox tells it later, see quiet
	}
	w.signals = append(w.signals, &workflowv1.EntityChanged{Version: w.version, Fields: fields})
}

// next does what the rules want done.
func (w *world) next() entity.Step {
	step := entity.Next(entity.Policy{CascadeCap: 5}, w.s, w.now)
	if step.Ask != nil {
		require.Empty(w.t, w.asks, "one question at a time")
		w.asks = append(w.asks, ask{in: step.Ask})
		w.sayf("asks %v", step.Ask)
	}
	for _, p := range step.Visits {
		require.False(w.t, slices.ContainsFunc(w.visits, func(v *visit) bool { return v.stage == p.GetStage() }), "one visit of a stage at a time")
		w.sayf("sends %s, visit %d", p.GetStage(), p.GetVisit())
		w.visits = append(w.visits, &visit{stage: p.GetStage(), number: p.GetVisit(), background: p.GetBackground()})
	}
	for _, p := range step.CallBack {
		for i, v := range w.visits {
			if v.number == p.GetVisit() && v != w.turn && v.out == nil {
				w.visits = slices.Delete(w.visits, i, i+1)
				entity.CalledBack(w.s, p.GetStage(), p.GetVisit())
				break
			}
		}
	}
	require.True(w.t, step.Until.IsZero() || step.Until.After(w.now), "it would spin: %s is not after %s", step.Until, w.now)
	require.False(w.t, step.Idle && (len(w.asks) > 0 || len(w.visits) > 0), "idle with something on its way")
	return step
}

// executeAsk answers a question as the worker does: by the entity as it is now.
func (w *world) executeAsk() {
	for i := range w.asks {
		a := &w.asks[i]
		if a.out != nil {
			continue
		}
		a.out = &workflowv1.AskResult{Version: w.version}
		w.sayf("the question is executed")
		for _, stage := range stages {
			if slices.Contains(a.in.GetExcept(), stage) || len(a.in.GetOnly()) > 0 && !slices.Contains(a.in.GetOnly(), stage) {
				continue
			}
			interested := len(a.in.GetOnly()) > 0 || len(a.in.GetFields()) == 0 || interests[stage] == nil || slices.Contains(a.in.GetAlso(), stage) ||
				slices.ContainsFunc(a.in.GetFields(), func(f string) bool { return slices.Contains(interests[stage], f) })
			if !interested {
				continue
			}
			w.covered[stage] = w.version
			switch w.draw("answer", 4) {
			case 0:
				a.out.Answers = append(a.out.Answers, &workflowv1.AskResult_Answer{Stage: stage, Visit: true})
			case 1:
				a.out.Answers = append(a.out.Answers, &workflowv1.AskResult_Answer{Stage: stage, Timer: timestamppb.New(w.now.Add(time.Hour))})
			}
		}
	}
}

func (w *world) takeTurn() {
	if w.turn != nil || len(w.visits) == 0 {
		return
	}
	v := w.visits[w.draw("who", len(w.visits))]
	if v.out == nil {
		w.turn, v.loaded = v, w.version
		w.sayf("%s takes its turn", v.stage)
	}
}

// work ends the turn: committed, without a change, conflicting and loaded again, failed.
func (w *world) work() {
	v := w.turn
	if v == nil {
		return
	}
	kind := w.draw("work", 5)
	if kind == 0 {
		w.turn, v.out = nil, &workflowv1.VisitResult{Error: "it failed"}
		return
	}
	if v.loaded != w.version && kind < 4 {
		v.loaded = w.version // a conflict: it runs again on fresh data
		return
	}
	r := &workflowv1.VisitResult{Version: v.loaded}
	if kind == 1 {
		r.Fields, r.Changed = w.change(v.stage), true
		r.Version = w.version
	}
	switch w.draw("timer", 3) {
	case 0:
		r.KeepTimer = true
	case 1:
		r.Timer = timestamppb.New(w.now.Add(time.Duration(w.draw("minutes", 90)-10) * time.Minute))
	}
	w.covered[v.stage] = max(w.covered[v.stage], r.GetVersion())
	w.turn, v.out = nil, r
	w.sayf("%s has worked: %v", v.stage, r)
}

// deliver brings one thing that is on its way to the workflow.
func (w *world) deliver() {
	switch w.draw("what arrives", 3) {
	case 0:
		if len(w.signals) > 0 {
			entity.Changed(w.s, w.signals[0].GetVersion(), w.signals[0].GetFields())
			w.signals = w.signals[1:]
		}
	case 1:
		if len(w.asks) > 0 && w.asks[0].out != nil {
			entity.Answered(w.s, w.asks[0].in, w.asks[0].out, w.now)
			w.asks = nil
		}
	case 2:
		for i, v := range w.visits {
			if v.out != nil {
				w.sayf("%s is told", v.stage)
				require.True(w.t, entity.Visited(entity.Policy{CascadeCap: 5}, w.s, v.stage, v.number, v.out, w.now))
				w.visits = slices.Delete(w.visits, i, i+1)
				break
			}
		}
	}
}

// quiet lets everything that is on its way arrive, and time pass, until nothing is left.
func (w *world) quiet() {
	w.sayf("quiet")
	for range 10_000 {
		for len(w.signals) > 0 {
			entity.Changed(w.s, w.signals[0].GetVersion(), w.signals[0].GetFields())
			w.signals = w.signals[1:]
		}
		if entity.Changed(w.s, w.version, nil) { // the outbox is published again and again
			w.t.Logf("healed by the outbox")
		}
		step := w.next()
		if step.Idle {
			return
		}
		w.executeAsk()
		for i := range w.asks {
			w.asks[i].out.Answers = slices.DeleteFunc(w.asks[i].out.GetAnswers(), func(a *workflowv1.AskResult_Answer) bool { return a.GetTimer() != nil })
			entity.Answered(w.s, w.asks[i].in, w.asks[i].out, w.now)
		}
		w.asks = nil
		w.turn = nil
		for _, v := range w.visits {
			if v.out == nil {
				v.out = &workflowv1.VisitResult{Version: w.version}
				w.covered[v.stage] = w.version
			}
			entity.Visited(entity.Policy{}, w.s, v.stage, v.number, v.out, w.now)
		}
		w.visits = nil
		if !step.Until.IsZero() {
			w.now = step.Until
		}
	}
	w.t.Fatalf("it never becomes quiet: %v", w.s)
}

// After quiet every stage has been asked about, or has visited, all that concerns it,
// whatever arrived in which order; nothing is scheduled twice, and nothing spins
// (G-04, G-05, G-23, G-27, G-29, G-31).
func TestEveryStageSeesTheLastVersion(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		for range rapid.IntRange(1, 120).Draw(t, "steps") {
			switch w.draw("step", 10) {
			case 6:
				if len(w.asks) > 0 && w.draw("withdrawn", 4) == 0 { // the run goes on as a new one
					entity.Withdrawn(w.s, w.asks[0].in)
					w.asks = nil
				}
			case 0:
				w.put()
			case 1:
				w.executeAsk()
			case 2:
				w.takeTurn()
			case 3:
				w.work()
			case 4:
				w.now = w.now.Add(time.Duration(w.draw("seconds", 100)) * time.Second)
			case 5:
				stage := stages[w.draw("stage", len(stages))]
				entity.Request(w.s, stage, gnomonv1.ProcessRequest_REWALK, true, w.now)
			default:
				w.deliver()
			}
			w.next()
		}
		w.quiet()
		for _, stage := range stages {
			require.False(t, w.concerns(stage), "stage %s has seen version %d of %d", stage, w.covered[stage], w.version)
		}
	})
}
