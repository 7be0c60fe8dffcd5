package workflows_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/timestamppb"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
)

const day = 24 * time.Hour

// G-36, G-16: a timer of 180 days is replaced, armed again and disarmed by visits for
// other reasons, which run at once; and what it waited for comes in its time.
func TestEntityTimers(t *testing.T) {
	t.Parallel()
	d := newDossier(t)
	answers := []*workflowv1.VisitResult{
		{Timer: d.in(180 * day)}, // the first change arms it
		{KeepTimer: true},        // the second keeps it
		{Timer: d.in(200 * day)}, // the third replaces it
		{Timer: d.in(210 * day)}, // it fires and is armed again
		{},                       // the fourth change disarms it
	}
	d.stage("withdraw", func(*workflowv1.VisitInput) *workflowv1.VisitResult {
		r := answers[0]
		answers = answers[1:]
		return r
	})
	d.at(30*day, func() {
		require.Equal(t, d.in(180*day).AsTime(), d.check().GetTimers()[0].GetDueTime().AsTime())
		d.put("price")
	})
	d.at(60*day, func() {
		require.Equal(t, d.in(180*day).AsTime(), d.check().GetTimers()[0].GetDueTime().AsTime())
		d.put("price")
	})
	d.at(205*day, func() { d.put("price") })
	require.NoError(t, d.run())
	require.Equal(t, []time.Duration{0, 30 * day, 60 * day, 200 * day, 205 * day}, d.when("withdraw"))
	require.Equal(t, gnomonv1.ProcessRequest_TIMER, d.visits[3].in.GetCause())
	require.Equal(t, gnomonv1.ProcessRequest_CHANGE, d.visits[4].in.GetCause())
	require.Equal(t, 205*day, d.env.Now().Sub(d.clock).Round(time.Hour), "with nothing armed and nobody pending it ends")
}

// G-15, G-30: a timer is also what a stage may answer to a question, or to a walk.
func TestEntityTimerInstead(t *testing.T) {
	t.Parallel()
	d := newDossier(t)
	d.stage("a", quietly)
	d.stage("b", quietly)
	d.wants["a"] = func(*workflowv1.AskInput) *workflowv1.AskResult_Answer {
		return &workflowv1.AskResult_Answer{Stage: "a", Timer: d.in(time.Hour)}
	}
	d.at(time.Minute, func() {
		d.want(&workflowv1.VisitRequested{Stage: "b", Timer: d.in(2 * time.Hour)})
		d.want(&workflowv1.VisitRequested{}) // of nobody
	})
	require.NoError(t, d.run())
	require.Equal(t, []time.Duration{time.Hour}, d.when("a"))
	require.Equal(t, []time.Duration{0, 2 * time.Hour}, d.when("b"))
}

// G-23, G-24, G-27: a change by a stage is told to all others and not to itself, one
// without a change to nobody; the facade's word of what is known is no news.
func TestEntityFansOut(t *testing.T) {
	t.Parallel()
	d := newDossier(t)
	d.stage("price", func(_ *workflowv1.VisitInput) *workflowv1.VisitResult {
		if d.version == 1 {
			return &workflowv1.VisitResult{Changed: true, Fields: []string{"price"}}
		}
		return &workflowv1.VisitResult{}
	})
	d.stage("video", quietly)
	d.wants["video"] = func(in *workflowv1.AskInput) *workflowv1.AskResult_Answer {
		if in.GetVersion() == 1 {
			return nil
		}
		return &workflowv1.AskResult_Answer{Stage: "video", Visit: true}
	}
	d.at(time.Minute, func() {
		d.env.SignalWorkflow(workflowv1.SignalChanged, &workflowv1.EntityChanged{Version: 2})
	})
	d.at(0, func() { d.want(&workflowv1.VisitRequested{Stage: "video", Timer: d.in(time.Hour)}) })
	require.NoError(t, d.run())
	require.Equal(t, []string{"price", "video"}, d.visited())
	require.Len(t, d.asks, 2)
	require.Empty(t, d.asks[0].GetExcept())
	require.Equal(t, []string{"x"}, d.asks[0].GetFields())
	require.Equal(t, []string{"price"}, d.asks[1].GetExcept())
	require.Equal(t, []string{"price"}, d.asks[1].GetFields())
}

// G-04, G-05: changes while a stage waits or works merge into one visit, and none is
// missed: who did not see the last one is asked again.
func TestEntityMerges(t *testing.T) {
	t.Parallel()
	d := newDossier(t)
	d.stage("a", quietly)
	d.holds["a"] = true
	for i := range 5 {
		d.at(time.Duration(i+1)*time.Minute, func() { d.put("x") })
	}
	d.at(10*time.Minute, func() {
		require.Len(t, d.waiting, 1, "it is in the queue once")
		d.release("a")
		d.put("x") // it has visited by now, and that is not told yet
	})
	require.NoError(t, d.run())
	require.Len(t, d.visits, 2)
	require.Equal(t, []string{"a"}, d.asks[len(d.asks)-1].GetOnly())
}

// G-03, G-26: an entity that waits in a slow stage's queue is visited by the others, and
// readers of the queue see who waits (G-34).
func TestEntitySlowStage(t *testing.T) {
	t.Parallel()
	d := newDossier(t)
	for _, name := range []string{"a", "b", "c"} {
		d.stage(name, quietly)
	}
	d.holds["a"] = true
	d.at(time.Minute, func() {
		require.ElementsMatch(t, []string{"b", "c"}, d.visited())
		require.LessOrEqual(t, d.when("b")[0], 2*time.Second)
		require.Len(t, d.check().GetPending(), 1)
		require.True(t, d.check().GetPending()[0].GetVisiting())
		require.Len(t, d.rows, 1)
		require.Equal(t, "a", d.rows[0].GetEntries()[0].GetStage())
		d.put("x")
	})
	d.at(time.Hour, func() {
		require.ElementsMatch(t, []string{"b", "c", "b", "c"}, d.visited())
		d.release("a")
	})
	require.NoError(t, d.run())
	last := d.rows[len(d.rows)-1]
	require.Empty(t, last.GetEntries(), "the rows go with the end")
	for i := 1; i < len(d.rows); i++ {
		require.Greater(t, d.rows[i].GetSequence(), d.rows[i-1].GetSequence())
	}
}

// What does not wait long costs no row.
func TestEntityQuickQueue(t *testing.T) {
	t.Parallel()
	d := newDossier(t)
	for _, name := range []string{"a", "b", "c"} {
		d.stage(name, quietly)
	}
	require.NoError(t, d.run())
	require.Equal(t, []string{"a", "b", "c"}, d.visited())
	require.Empty(t, d.rows)
}

// G-28: stages that change one after another without an end are slowed down, and go on.
func TestEntityCascade(t *testing.T) {
	t.Parallel()
	d := newDossier(t)
	for _, name := range []string{"ping", "pong"} {
		d.stage(name, func(*workflowv1.VisitInput) *workflowv1.VisitResult {
			return &workflowv1.VisitResult{Changed: d.version < 12, Fields: []string{"ball"}}
		})
	}
	require.NoError(t, d.run())
	require.EqualValues(t, 12, d.version, "none is dropped")
	var late int
	for _, v := range d.visits {
		if v.after >= time.Minute {
			late++
		}
	}
	require.GreaterOrEqual(t, d.visits[len(d.visits)-1].after, 8*time.Minute)
	require.GreaterOrEqual(t, late, 8)
}

// G-31: a walk's visits have the low priority, until a real change comes: then what has
// not begun is called back and sent anew.
func TestEntityBackground(t *testing.T) {
	t.Parallel()
	d := newDossier(t)
	d.state.Version, d.state.AskedVersion, d.version = 1, 1, 1
	d.stage("a", quietly)
	d.holds["a"] = true
	d.at(0, func() {
		d.want(&workflowv1.VisitRequested{Stage: "a", Cause: gnomonv1.ProcessRequest_REWALK, Background: true})
	})
	d.at(time.Minute, func() {
		require.True(t, d.waiting[0].in.GetBackground())
		require.True(t, d.check().GetPending()[0].GetBackground())
		d.put("x")
	})
	d.at(2*time.Minute, func() {
		require.Len(t, d.waiting, 2)
		require.False(t, d.waiting[1].in.GetBackground())
		require.NotEqual(t, d.waiting[0].in.GetVisitId(), d.waiting[1].in.GetVisitId())
		require.False(t, d.check().GetPending()[0].GetBackground())
		d.waiting = d.waiting[1:]
		d.release("a")
	})
	require.NoError(t, d.run())
	require.Len(t, d.visits, 1)
}

// G-10: a stage that fails is repeated, later and later, and people see why.
func TestEntityFailingStage(t *testing.T) {
	t.Parallel()
	d := newDossier(t)
	fails := 3
	d.stage("a", func(*workflowv1.VisitInput) *workflowv1.VisitResult {
		if fails--; fails >= 0 {
			return &workflowv1.VisitResult{Error: "poison"}
		}
		return &workflowv1.VisitResult{}
	})
	d.stage("b", quietly)
	d.at(2*time.Second, func() {
		p := d.check().GetPending()[0]
		require.Equal(t, "poison", p.GetError())
		require.EqualValues(t, 2, p.GetFailures())
		require.NotNil(t, p.GetNotBefore())
	})
	require.NoError(t, d.run())
	require.Equal(t, []time.Duration{0, time.Second, 3 * time.Second, 7 * time.Second}, d.when("a"))
	require.Equal(t, []time.Duration{0}, d.when("b"))
	// Its row is written when it has waited for some time and when it has ended, not at each
	// try: those are what a stage that is down costs the others (G-26).
	require.Len(t, d.rows, 2)
	require.Len(t, d.rows[0].GetEntries(), 1)
	require.Empty(t, d.rows[1].GetEntries())
}

// G-12: a publisher that fails for an hour holds up nobody, and is told of all in the
// end, before which the workflow does not end.
func TestEntityPublisherFails(t *testing.T) {
	t.Parallel()
	d := newDossier(t)
	d.publisher = errors.New("down")
	d.stage("a", quietly)
	d.at(time.Minute, func() {
		require.Equal(t, []string{"a"}, d.visited())
		d.put("x")
	})
	d.at(2*time.Minute, func() { require.Len(t, d.visited(), 2) })
	d.at(time.Hour, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		require.Empty(t, d.published)
		d.publisher = nil
	})
	require.NoError(t, d.run())
	require.NotEmpty(t, d.published)
	require.Less(t, d.env.Now().Sub(d.clock), time.Hour+2*time.Minute)
}

// A word of what is known already has it published again: whoever tells of it has found
// records that are not.
func TestEntityPublishesAgain(t *testing.T) {
	t.Parallel()
	d := newDossier(t)
	d.state.Version, d.state.AskedVersion, d.version = 3, 3, 3
	d.at(0, func() { d.env.SignalWorkflow(workflowv1.SignalChanged, &workflowv1.EntityChanged{Version: 3}) })
	d.state.Timers = []*workflowv1.StageTimer{{Stage: "a", DueTime: d.in(time.Second)}}
	d.stage("a", quietly)
	require.NoError(t, d.run())
	require.Empty(t, d.asks)
	require.NotEmpty(t, d.published)
}

// A change whose facade died before it told is found where it is published, after which
// nothing else reminds of it.
func TestEntityUntold(t *testing.T) {
	t.Parallel()
	d := newDossier(t)
	d.stage("a", quietly)
	d.untold = 2 // published with what the visit committed
	require.NoError(t, d.run())
	require.Len(t, d.asks, 2)
	require.Equal(t, []string{"a", "a"}, d.visited())
	require.EqualValues(t, 2, d.asks[len(d.asks)-1].GetVersion())
	require.Empty(t, d.asks[len(d.asks)-1].GetFields())
}

// A deleted entity is visited by nobody, and its workflow ends; put again it is as new.
func TestEntityGone(t *testing.T) {
	t.Parallel()
	d := newDossier(t)
	d.stage("a", func(*workflowv1.VisitInput) *workflowv1.VisitResult {
		return &workflowv1.VisitResult{Timer: d.in(180 * day)}
	})
	d.stage("b", quietly)
	d.holds["b"] = true
	d.at(time.Hour, func() {
		d.gone = true
		d.put()
	})
	require.NoError(t, d.run())
	require.Equal(t, []string{"a"}, d.visited())
	require.Less(t, d.env.Now().Sub(d.clock), 2*time.Hour)
	require.Empty(t, d.rows[len(d.rows)-1].GetEntries())
}

// A run goes on as a new one with all that is pending, armed and owed: visits that have
// not begun are called back and sent by the next, none of them lost or made twice.
func TestEntityContinuesAsNew(t *testing.T) {
	t.Parallel()
	d := newDossier(t)
	d.publisher = errors.New("down")
	for _, name := range []string{"a", "b", "c"} {
		d.stage(name, quietly)
		d.holds[name] = true
	}
	d.works["d"] = quietly
	d.at(time.Minute, func() {
		d.want(&workflowv1.VisitRequested{Stage: "d", Timer: d.in(180 * day)})
		d.env.SetContinueAsNewSuggested(true)
		d.put("y")
	})
	d.at(time.Minute+2*time.Second, func() { d.release("a") })
	err := d.run()
	next := nextState(t, err)
	require.Less(t, d.env.Now().Sub(d.clock), time.Minute+10*time.Second, "a queue that nobody polls does not hold it up")
	require.Equal(t, []string{"a"}, d.visited())
	require.EqualValues(t, 2, next.GetVersion())
	require.EqualValues(t, 1, next.GetAskedVersion(), "the second change is still to be asked about")
	require.False(t, next.GetAsking())
	require.True(t, next.GetPublishOwed())
	require.Len(t, next.GetTimers(), 1)
	require.Len(t, next.GetPending(), 2)
	for _, p := range next.GetPending() {
		require.Zero(t, p.GetVisit())
	}

	again := newDossier(t)
	again.state, again.version, again.clock = next, 2, d.env.Now()
	again.env.SetStartTime(again.clock)
	for _, name := range []string{"a", "b", "c", "d"} {
		again.stage(name, quietly)
	}
	require.NoError(t, again.run())
	require.Equal(t, []string{"b", "c", "d"}, again.visited(), "a has seen the last version")
	require.NotEmpty(t, again.published)
	for _, v := range again.visits {
		for _, w := range d.waiting {
			require.NotEqual(t, w.in.GetVisitId(), v.in.GetVisitId(), "numbers go on")
		}
	}
}

// The query says what people ask for: who waits since when, and what is armed, in order.
func TestEntityCheck(t *testing.T) {
	t.Parallel()
	d := newDossier(t)
	d.stage("a", quietly)
	d.holds["a"] = true
	d.at(time.Minute, func() {
		d.want(&workflowv1.VisitRequested{Stage: "late", Timer: d.in(3 * time.Hour)})
		d.want(&workflowv1.VisitRequested{Stage: "early", Timer: d.in(2 * time.Hour)})
	})
	d.works["late"], d.works["early"] = quietly, quietly
	d.at(time.Hour, func() {
		r := d.check()
		require.Len(t, r.GetPending(), 1)
		require.Equal(t, timestamppb.New(d.clock).AsTime(), r.GetPending()[0].GetEnqueueTime().AsTime())
		require.Equal(t, "early", r.GetTimers()[0].GetStage())
		require.Equal(t, "late", r.GetTimers()[1].GetStage())
		require.Empty(t, r.GetAsking())
		d.release("a")
	})
	require.NoError(t, d.run())
}
