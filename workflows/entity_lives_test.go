package workflows_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
	"google.golang.org/protobuf/types/known/structpb"

	"gnomon/activities"
	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/store"
	"gnomon/store/faulty"
	"gnomon/store/sqlite"
	"gnomon/workflows"
)

var (
	entitySteps = flag.Int("entity-steps", 600, "random steps of TestEntityLives")
	entitySeed  = flag.Uint64("entity-seed", 0, "what TestEntityLives draws from; 0: it chooses")
)

// Random puts, compare-and-sets, deletions, walks, lost signals, and stages that are slow,
// fail, conflict and play ping-pong, with a store and a publisher that fail, attempts
// whose reports are lost, and runs that go on as new ones in the middle of it. After quiet
// every stage has seen the last version or said no to it, nothing ran side by side on one
// entity, states are those of their commits, and every commit was published in order
// (G-05, G-08, G-11, G-12, G-13, G-14, G-18, G-22, G-23, G-25, G-27).
func TestEntityLives(t *testing.T) {
	t.Parallel()
	seed := *entitySeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("-entity-seed %d", seed)
	rows, err := sqlite.Open(t.Context(), sqlite.Config{Path: sqlite.MemoryPath, Migrate: true})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, rows.Close()) })
	var steps, lives, calls atomic.Int64
	var playing sync.WaitGroup
	for range 4 * runtime.GOMAXPROCS(0) { // they wait more than they work
		playing.Go(func() {
			for steps.Load() < int64(*entitySteps) && !t.Failed() {
				n := lives.Add(1)
				l := newLife(t, rows, seed+uint64(n))
				steps.Add(int64(l.live()))
				calls.Add(int64(l.calls))
			}
		})
	}
	playing.Wait()
	t.Logf("%d steps in %d lives, %d calls of stages", steps.Load(), lives.Load(), calls.Load())
}

// entityLife is the life of one entity.
type entityLife struct {
	*played

	t       *testing.T
	seed    uint64
	rows    store.Entities // as it is
	shaky   *faulty.Store  // as the activities and the facade see it
	env     *testsuite.TestWorkflowEnvironment
	version atomic.Int64
	steps   []step
	// now is the time between runs.
	now time.Time
}

type step struct {
	at   time.Duration
	what int
	seed uint64
}

func newLife(t *testing.T, rows *sqlite.Store, seed uint64) *entityLife {
	t.Helper()
	draw := rand.New(rand.NewPCG(seed, 1))
	l := &entityLife{
		t: t, seed: seed, rows: rows, shaky: faulty.New(rows, seed), now: modelStart,
		played: &played{key: store.EntityKey{Type: "offer", ID: fmt.Sprint("e", seed)}, draw: draw, covered: map[string]int64{}},
	}
	l.outside = func(string) { l.change(rand.New(rand.NewPCG(seed, uint64(l.now.UnixNano()))), nil) }
	// Not the releases of slots: those would have to run out in real time.
	l.shaky.Set(faulty.Faults{Fail: 0.03, LoseReply: 0.03, Double: 0.05, Only: []faulty.Method{
		faulty.PutEntity, faulty.GetEntity, faulty.DeleteEntity, faulty.GetStageState, faulty.UpdateStageState, faulty.BeginVisit, faulty.KeepTurn,
		faulty.EndVisit, faulty.CommitVisit, faulty.TakeSlot, faulty.Unpublished, faulty.Published, faulty.PutQueue,
	}})
	at := time.Duration(0)
	for range 20 + draw.IntN(60) {
		// Most come together, some far apart.
		switch draw.IntN(4) {
		case 0:
			at += time.Duration(draw.IntN(300)) * time.Second
		case 1:
			at += time.Duration(draw.IntN(100)) * time.Hour
		default:
			at += time.Duration(draw.IntN(1500)) * time.Millisecond
		}
		l.steps = append(l.steps, step{at, draw.IntN(12), draw.Uint64()})
	}
	return l
}

// live plays all steps and says how many there were.
func (l *entityLife) live() int {
	n := len(l.steps)
	var carried *workflowv1.EntityState
	for round := 0; ; round++ {
		if round > 10_000 {
			l.t.Errorf("seed %d: it never becomes quiet", l.seed)
			return n
		}
		if len(l.steps) == 0 {
			l.mu.Lock()
			l.calm = true
			l.mu.Unlock()
			l.shaky.Set(faulty.Faults{})
		}
		if carried == nil && !l.needed() {
			break
		}
		carried = l.run(carried)
	}
	stands, err := l.rows.GetEntity(l.t.Context(), l.key)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		l.t.Errorf("seed %d: %v", l.seed, err)
	}
	states := map[string]*gnomonv1.StageState{}
	if stands != nil {
		for stage := range interests {
			if states[stage], err = l.rows.GetStageState(l.t.Context(), l.key, stage); err != nil {
				l.t.Errorf("seed %d: %v", l.seed, err)
			}
		}
	}
	if wrong := l.settled(stands, states); len(wrong) > 0 {
		l.t.Errorf("-entity-steps 1 -entity-seed %d: %v", l.seed-1, wrong)
	}
	return n
}

// needed says whether a run is to be begun: for a step that is left, or since a record is
// not published, as the reminder of a worker would find.
func (l *entityLife) needed() bool { return len(l.steps) > 0 || l.forgotten() > 0 }

// forgotten is the version of the entity if a record of it is not published, else 0.
func (l *entityLife) forgotten() int64 {
	after := store.EntityKey{}
	for {
		found, err := l.rows.Forgotten(l.t.Context(), l.now.Add(time.Hour), after, 100)
		if err != nil {
			l.t.Errorf("seed %d: %v", l.seed, err)
		}
		for _, one := range found {
			if one.Key == l.key {
				return one.Version
			}
			after = one.Key
		}
		if len(found) < 100 {
			return 0
		}
	}
}

// run is one run of the workflow; it gives what the next one begins with, or nil.
func (l *entityLife) run(carried *workflowv1.EntityState) *workflowv1.EntityState {
	suite := &testsuite.WorkflowTestSuite{}
	quiet := slog.New(slog.DiscardHandler)
	suite.SetLogger(log.NewStructuredLogger(quiet))
	env := suite.NewTestWorkflowEnvironment()
	l.env = env
	env.SetWorkerOptions(worker.Options{Interceptors: workflows.Interceptors(), DeadlockDetectionTimeout: time.Minute})
	env.SetTestTimeout(5 * time.Minute)
	workflows.New(workflows.Options{Entities: &workflowv1.EntitySettings{CascadeCap: 10}}).Register(registry{env})
	a := &activities.Entities{Store: l.shaky, Stages: l.set(), Publisher: l, Log: quiet, Now: env.Now}
	register := func(f any, name string) { env.RegisterActivityWithOptions(f, activity.RegisterOptions{Name: name}) }
	register(a.AskStages, workflowv1.AskStagesActivity)
	register(a.PublishSaved, workflowv1.PublishSavedActivity)
	register(a.MirrorQueue, workflowv1.MirrorQueueActivity)
	// What a run leaves behind is not counted by the time of the next one, in which turns
	// would run out at once.
	var visiting sync.WaitGroup
	defer visiting.Wait()
	register(func(ctx context.Context, in *workflowv1.VisitInput) (*workflowv1.VisitResult, error) {
		visiting.Add(1)
		defer visiting.Done()
		r, err := a.Process(ctx, in)
		if err == nil && r.GetError() == "" && !r.GetGone() {
			l.visited(in.GetStage(), r.GetVersion())
		}
		l.mu.Lock()
		lost := !l.calm && l.chance(5)
		l.mu.Unlock()
		if lost {
			return nil, errors.New("the report was lost")
		}
		return r, err
	}, workflowv1.ProcessActivity)

	if carried == nil {
		carried = &workflowv1.EntityState{Type: l.key.Type, Id: l.key.ID}
		if len(l.steps) == 0 {
			env.RegisterDelayedCallback(func() { l.tell(l.forgotten(), nil) }, 0)
		} else if first := modelStart.Add(l.steps[0].at); first.After(l.now) {
			l.now = first // a run is begun by a signal
		}
	}
	env.SetStartTime(l.now)
	for _, s := range l.steps {
		env.RegisterDelayedCallback(func() {
			l.steps = l.steps[1:]
			l.take(s)
		}, max(modelStart.Add(s.at).Sub(l.now), 0))
	}
	env.ExecuteWorkflow(workflowv1.EntityWorkflow, carried)
	l.now = env.Now().Add(time.Millisecond)
	err := env.GetWorkflowError()
	if err == nil {
		return nil
	}
	var next *workflow.ContinueAsNewError
	if !errors.As(err, &next) {
		l.t.Errorf("seed %d: %v", l.seed, err)
		return nil
	}
	state := &workflowv1.EntityState{}
	if err := converter.GetDefaultDataConverter().FromPayloads(next.Input, state); err != nil {
		l.t.Errorf("seed %d: %v", l.seed, err)
	}
	return state
}

// take takes a step.
func (l *entityLife) take(s step) {
	draw := rand.New(rand.NewPCG(s.seed, 2))
	stage := []string{"alpha", "beta", "gamma", "delta", "omega"}[draw.IntN(5)]
	switch s.what {
	case 0:
		l.env.SignalWorkflow(workflowv1.SignalVisit, &workflowv1.VisitRequested{Stage: stage, Cause: gnomonv1.ProcessRequest_REWALK, Background: true})
	case 1:
		l.env.SignalWorkflow(workflowv1.SignalVisit, &workflowv1.VisitRequested{Stage: stage, Cause: gnomonv1.ProcessRequest_REQUEST})
	case 2:
		l.env.SetContinueAsNewSuggested(true)
		l.tell(l.version.Load(), nil) // history grows by events alone
	case 3:
		l.tell(l.version.Load(), nil)
	case 4:
		if draw.IntN(3) == 0 {
			r, err := l.shaky.DeleteEntity(l.t.Context(), l.key, 0, l.env.Now())
			if err == nil {
				l.tell(r.Entity.GetVersion(), nil)
			}
		}
	default:
		l.change(draw, l.tell)
	}
}

// change is a put or a compare-and-set from outside.
func (l *entityLife) change(draw *rand.Rand, tell func(int64, []string)) {
	if draw.IntN(3) == 0 {
		stage := []string{"alpha", "beta", "gamma", "delta", "omega"}[draw.IntN(5)]
		had, err := l.shaky.GetStageState(l.t.Context(), l.key, stage)
		if err != nil {
			return
		}
		_, count := unpackState(had)
		r, err := l.shaky.UpdateStageState(l.t.Context(), store.StateUpdate{
			Key: l.key, Stage: stage, Version: had.GetVersion(), State: &gnomonv1.StageState{State: packState(stage, count+1000)}, At: l.env.Now(),
		})
		if err == nil && r.Updated && tell != nil && draw.IntN(2) == 0 {
			tell(r.EntityVersion, nil)
		}
		return
	}
	content := &structpb.Struct{Fields: map[string]*structpb.Value{}}
	if e, err := l.rows.GetEntity(l.t.Context(), l.key); err == nil && e.GetContent() != nil {
		content = e.GetContent()
	}
	for _, field := range [][]string{{"x"}, {"y"}, {"x", "y"}, {"z"}}[draw.IntN(4)] {
		content.Fields[field] = structpb.NewNumberValue(float64(draw.IntN(1000)))
	}
	r, err := l.shaky.PutEntity(l.t.Context(), store.EntityPut{
		Entity: &gnomonv1.Entity{Type: l.key.Type, Id: l.key.ID, Content: content}, At: l.env.Now(),
	})
	if err != nil {
		return // perhaps it was put: the reminder knows
	}
	l.version.Store(max(l.version.Load(), r.Entity.GetVersion()))
	if r.Changed && tell != nil && draw.IntN(5) > 0 { // else the facade died in between
		tell(r.Entity.GetVersion(), r.Fields)
	}
}

func (l *entityLife) tell(version int64, fields []string) {
	l.version.Store(max(l.version.Load(), version))
	l.env.SignalWorkflow(workflowv1.SignalChanged, &workflowv1.EntityChanged{Version: version, Fields: fields})
}
