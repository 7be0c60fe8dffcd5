package entity_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/timestamppb"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/entity"
)

var policy = entity.Policy{CascadeCap: 3}

// answered puts the state's question and has these stages say yes.
func answered(t *testing.T, s *workflowv1.EntityState, now time.Time, yes ...string) *workflowv1.AskInput {
	t.Helper()
	in := entity.Next(policy, s, now).Ask
	require.NotNil(t, in)
	r := &workflowv1.AskResult{Version: in.GetVersion()}
	for _, stage := range yes {
		r.Answers = append(r.Answers, &workflowv1.AskResult_Answer{Stage: stage, Visit: true})
	}
	entity.Answered(s, in, r, now)
	return in
}

func sent(step entity.Step) []string {
	var names []string
	for _, p := range step.Visits {
		names = append(names, p.GetStage())
	}
	return names
}

func visited(t *testing.T, s *workflowv1.EntityState, stage string, r *workflowv1.VisitResult, now time.Time) {
	t.Helper()
	for _, p := range s.GetPending() {
		if p.GetStage() == stage {
			require.NotZero(t, p.GetVisit())
			require.True(t, entity.Visited(policy, s, stage, p.GetVisit(), r, now))
			return
		}
	}
	require.Fail(t, "not pending: "+stage)
}

// G-23, G-24, G-27: others are asked about a stage's change, it is not, and nobody about
// content that stayed; a version that is known is no news.
func TestWhoIsAsked(t *testing.T) {
	t.Parallel()
	s := &workflowv1.EntityState{}
	require.True(t, entity.Changed(s, 1, nil))
	require.False(t, entity.Changed(s, 1, nil))
	require.Empty(t, answered(t, s, noon, "a").GetExcept())
	require.Equal(t, []string{"a"}, sent(entity.Next(policy, s, noon)))
	visited(t, s, "a", &workflowv1.VisitResult{Version: 2, Changed: true, Fields: []string{"price"}}, noon)
	require.False(t, entity.Changed(s, 2, nil), "its own commit comes back as an event")
	in := answered(t, s, noon, "b")
	require.Equal(t, []string{"a"}, in.GetExcept())
	require.Equal(t, []string{"price"}, in.GetFields())
	entity.Next(policy, s, noon)
	visited(t, s, "b", &workflowv1.VisitResult{Version: 2}, noon)
	require.True(t, entity.Next(policy, s, noon).Idle)
}

// G-36: a timer does not hold up an event, and stays until the visit's answer.
func TestTimerAndEvent(t *testing.T) {
	t.Parallel()
	s := &workflowv1.EntityState{}
	entity.Changed(s, 1, nil)
	answered(t, s, noon, "a")
	far := noon.Add(180 * 24 * time.Hour)
	entity.Next(policy, s, noon)
	visited(t, s, "a", &workflowv1.VisitResult{Version: 1, Timer: timestamppb.New(far)}, noon)
	require.Equal(t, far, entity.Next(policy, s, noon).Until)

	entity.Changed(s, 2, nil)
	answered(t, s, noon, "a")
	step := entity.Next(policy, s, noon)
	require.Equal(t, []string{"a"}, sent(step))
	require.Equal(t, far, step.Until, "armed until the answer")
	visited(t, s, "a", &workflowv1.VisitResult{Version: 2, KeepTimer: true}, noon)
	require.Equal(t, far, entity.Next(policy, s, noon).Until)
	require.Empty(t, sent(entity.Next(policy, s, far.Add(-1))))
	require.Equal(t, []string{"a"}, sent(entity.Next(policy, s, far)))
	visited(t, s, "a", &workflowv1.VisitResult{Version: 2}, far)
	require.True(t, entity.Next(policy, s, far).Idle, "no timer in the answer disarms it (G-16)")
}

// G-25, G-26: one goes alone; if it waits too long the others are sent beside it.
func TestPatience(t *testing.T) {
	t.Parallel()
	s := &workflowv1.EntityState{}
	for _, stage := range []string{"c", "b", "a"} {
		entity.Request(s, stage, gnomonv1.ProcessRequest_REQUEST, false, noon)
	}
	step := entity.Next(policy, s, noon)
	require.Equal(t, []string{"a"}, sent(step))
	require.Equal(t, noon.Add(time.Second), step.Until)
	require.Empty(t, sent(entity.Next(policy, s, noon.Add(time.Second-1))))
	require.Equal(t, []string{"b", "c"}, sent(entity.Next(policy, s, noon.Add(time.Second))))
}

// G-28: too many changes in a row are slowed down and never dropped; one from outside
// ends it.
func TestCascade(t *testing.T) {
	t.Parallel()
	s := &workflowv1.EntityState{}
	entity.Changed(s, 1, nil)
	stage, version := "a", int64(1)
	answered(t, s, noon, stage)
	for range 3 {
		entity.Next(policy, s, noon)
		version++
		visited(t, s, stage, &workflowv1.VisitResult{Version: version, Changed: true}, noon)
		stage = map[string]string{"a": "b", "b": "a"}[stage]
		answered(t, s, noon, stage)
	}
	entity.Next(policy, s, noon)
	visited(t, s, stage, &workflowv1.VisitResult{Version: version + 1, Changed: true}, noon)
	step := entity.Next(policy, s, noon)
	require.Nil(t, step.Ask)
	require.False(t, step.Idle)
	require.Equal(t, noon.Add(time.Minute), step.Until)
	require.NotNil(t, entity.Next(policy, s, noon.Add(time.Minute)).Ask)

	s.Asking = false
	s.Version, s.DeferredUntil = version+2, timestamppb.New(noon.Add(time.Hour))
	entity.Changed(s, version+3, nil)
	require.NotNil(t, entity.Next(policy, s, noon).Ask)
}

// G-31: a walk waits behind real changes; a real change brings its visit forward.
func TestBackground(t *testing.T) {
	t.Parallel()
	s := &workflowv1.EntityState{}
	entity.Request(s, "a", gnomonv1.ProcessRequest_REWALK, true, noon)
	entity.Request(s, "b", gnomonv1.ProcessRequest_TIMER, false, noon.Add(time.Minute))
	require.Equal(t, []string{"b"}, sent(entity.Next(policy, s, noon.Add(time.Minute))))
	visited(t, s, "b", &workflowv1.VisitResult{}, noon.Add(time.Minute))
	require.Equal(t, []string{"a"}, sent(entity.Next(policy, s, noon.Add(time.Minute))))

	entity.Changed(s, 1, nil)
	require.Empty(t, answered(t, s, noon, "a").GetExcept(), "it is asked although it waits")
	step := entity.Next(policy, s, noon)
	require.Equal(t, "a", step.CallBack[0].GetStage())
	require.Empty(t, entity.Next(policy, s, noon).CallBack, "once")
	entity.CalledBack(s, "a", step.CallBack[0].GetVisit())
	step = entity.Next(policy, s, noon)
	require.Equal(t, []string{"a"}, sent(step))
	require.False(t, step.Visits[0].GetBackground())
}

// G-10: a visit that fails is repeated, later and later, and holds up nobody.
func TestFailures(t *testing.T) {
	t.Parallel()
	s := &workflowv1.EntityState{}
	entity.Request(s, "a", gnomonv1.ProcessRequest_REQUEST, false, noon)
	now := noon
	for _, delay := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second} {
		require.Equal(t, []string{"a"}, sent(entity.Next(policy, s, now)))
		visited(t, s, "a", &workflowv1.VisitResult{Error: "poison"}, now)
		entity.Request(s, "b", gnomonv1.ProcessRequest_REQUEST, false, now)
		require.Equal(t, []string{"b"}, sent(entity.Next(policy, s, now)))
		visited(t, s, "b", &workflowv1.VisitResult{}, now)
		require.Equal(t, now.Add(delay), entity.Next(policy, s, now).Until)
		now = now.Add(delay)
	}
	require.Equal(t, "poison", s.GetPending()[0].GetError())
	s.GetPending()[0].Failures = 1000
	require.Equal(t, []string{"a"}, sent(entity.Next(policy, s, now)))
	visited(t, s, "a", &workflowv1.VisitResult{Error: "poison"}, now)
	require.Equal(t, now.Add(time.Hour), entity.Next(policy, s, now).Until)
}

// A deleted entity is visited by nobody, and a visit that was on its way finds that out.
func TestGone(t *testing.T) {
	t.Parallel()
	s := &workflowv1.EntityState{}
	entity.Changed(s, 1, nil)
	answered(t, s, noon, "a", "b")
	entity.Next(policy, s, noon)
	visited(t, s, "a", &workflowv1.VisitResult{Gone: true}, noon)
	require.False(t, entity.Visited(policy, s, "a", 1, &workflowv1.VisitResult{}, noon))
	in := entity.Next(policy, s, noon).Ask
	require.NotNil(t, in, "it may have been put again")
	entity.Answered(s, in, &workflowv1.AskResult{Gone: true}, noon)
	require.True(t, entity.Next(policy, s, noon).Idle)
	require.Empty(t, s.GetPending())
}

// One that was put again while a question or a visit still saw nothing is asked about.
func TestGoneAndPutAgain(t *testing.T) {
	t.Parallel()
	s := &workflowv1.EntityState{}
	entity.Changed(s, 2, nil)
	in := entity.Next(policy, s, noon).Ask
	entity.Changed(s, 3, []string{"x"})
	entity.Answered(s, in, &workflowv1.AskResult{Gone: true}, noon)
	again := answered(t, s, noon, "a", "b")
	require.Empty(t, again.GetFields(), "all of it is new")
	entity.Next(policy, s, noon)
	visited(t, s, "a", &workflowv1.VisitResult{Gone: true}, noon)
	require.Equal(t, []string{"a"}, entity.Next(policy, s, noon).Ask.GetOnly())
	require.Equal(t, "b", s.GetPending()[0].GetStage(), "until it is known to be gone, it waits")

	// Also while a question that leaves it out is on its way.
	s = &workflowv1.EntityState{}
	entity.Request(s, "a", gnomonv1.ProcessRequest_REQUEST, false, noon)
	entity.Next(policy, s, noon)
	entity.Changed(s, 5, nil)
	in = entity.Next(policy, s, noon).Ask
	require.Equal(t, []string{"a"}, in.GetExcept())
	visited(t, s, "a", &workflowv1.VisitResult{Gone: true}, noon)
	entity.Answered(s, in, &workflowv1.AskResult{Version: 5}, noon)
	require.Equal(t, []string{"a"}, entity.Next(policy, s, noon).Ask.GetOnly())
}

// A question that nobody answers is put again, with all that it was about.
func TestWithdrawn(t *testing.T) {
	t.Parallel()
	s := &workflowv1.EntityState{Version: 1, AskedVersion: 1}
	entity.Changed(s, 2, []string{"x"})
	s.AskAgain = []string{"c"}
	in := entity.Next(policy, s, noon).Ask
	entity.Changed(s, 3, []string{"y"})
	entity.Withdrawn(s, in)
	in = entity.Next(policy, s, noon).Ask
	require.Equal(t, []string{"x", "y"}, in.GetFields())
	require.Equal(t, []string{"c"}, in.GetAlso())
	entity.Answered(s, in, &workflowv1.AskResult{Version: 3}, noon)

	s.AskAgain = []string{"d"}
	in = entity.Next(policy, s, noon).Ask
	require.Equal(t, []string{"d"}, in.GetOnly())
	entity.Withdrawn(s, in)
	require.Equal(t, []string{"d"}, entity.Next(policy, s, noon).Ask.GetOnly())
}

// G-30: a visit of a walk, of an entity whose last change is not known, tells nobody.
func TestWalkAsksNobody(t *testing.T) {
	t.Parallel()
	s := &workflowv1.EntityState{}
	entity.Request(s, "a", gnomonv1.ProcessRequest_REWALK, true, noon)
	entity.Next(policy, s, noon)
	visited(t, s, "a", &workflowv1.VisitResult{Version: 7}, noon)
	require.True(t, entity.Next(policy, s, noon).Idle)
	require.True(t, entity.Changed(s, 7, nil), "which may still be told")

	s = &workflowv1.EntityState{}
	entity.Request(s, "a", gnomonv1.ProcessRequest_REWALK, true, noon)
	entity.Next(policy, s, noon)
	visited(t, s, "a", &workflowv1.VisitResult{Version: 8, Changed: true, Fields: []string{"x"}}, noon)
	in := entity.Next(policy, s, noon).Ask
	require.Equal(t, []string{"a"}, in.GetExcept())
	require.Empty(t, in.GetFields(), "of version 7 nothing is known")
}

// Very many fields are not told apart.
func TestManyFields(t *testing.T) {
	t.Parallel()
	s := &workflowv1.EntityState{}
	for v := range int64(entity.MaxFields + 1) {
		entity.Changed(s, v+1, []string{fmt.Sprint("f", v)})
	}
	require.Empty(t, entity.Next(policy, s, noon).Ask.GetFields())
}

// G-05: a stage that visited an older version than the one that came meanwhile, about
// which it was not asked as it was pending, is asked about that.
func TestEventMeanwhile(t *testing.T) {
	t.Parallel()
	s := &workflowv1.EntityState{}
	entity.Changed(s, 1, nil)
	answered(t, s, noon, "a")
	entity.Next(policy, s, noon)
	entity.Changed(s, 2, []string{"x"})
	require.Equal(t, []string{"a"}, answered(t, s, noon).GetExcept())
	visited(t, s, "a", &workflowv1.VisitResult{Version: 1}, noon)
	require.Equal(t, []string{"a"}, entity.Next(policy, s, noon).Ask.GetOnly())
}

// G-29: with one change whose fields are not known it is not known which have changed.
func TestUnknownFields(t *testing.T) {
	t.Parallel()
	s := &workflowv1.EntityState{}
	entity.Changed(s, 1, []string{"x"})
	entity.Changed(s, 2, nil)
	require.Empty(t, entity.Next(policy, s, noon).Ask.GetFields())
}

// G-31: whatever came first, what is behind all real changes goes last.
func TestBackgroundLast(t *testing.T) {
	t.Parallel()
	for _, order := range [][]string{{"walk", "change"}, {"change", "walk"}} {
		s := &workflowv1.EntityState{}
		for _, stage := range order {
			entity.Request(s, stage, gnomonv1.ProcessRequest_CHANGE, stage == "walk", noon)
		}
		require.Equal(t, []string{"change"}, sent(entity.Next(policy, s, noon)), order)
	}
}
