package activities_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"gnomon/activities"
	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/stages"
	"gnomon/store"
)

// path is what a walk goes through: entities in memory, a stage and a Temporal that are
// played by the test.
type path struct {
	store.Entities
	client.Client

	t     *testing.T
	real  *activities.Rewalks
	env   *testsuite.TestActivityEnvironment
	suite testsuite.WorkflowTestSuite

	mu     sync.Mutex
	ids    []string
	gone   map[string]bool
	queue  int
	visits map[string][]*workflowv1.VisitRequested
	asked  []string
	rows   []*gnomonv1.Rewalk
	beats  []*workflowv1.RewalkPageResult
	// answer is what the stage says of an entity.
	answer func(id string) (*gnomonv1.ShouldProcessResponse, error)
	// refuse is why Temporal does not take the visit of an entity.
	refuse func(id string) error
	open   int
	most   int
}

func yes() *gnomonv1.ShouldProcessResponse {
	return &gnomonv1.ShouldProcessResponse{Answer: &gnomonv1.ShouldProcessResponse_ShouldProcess{ShouldProcess: true}}
}

func no() *gnomonv1.ShouldProcessResponse {
	return &gnomonv1.ShouldProcessResponse{Answer: &gnomonv1.ShouldProcessResponse_ShouldProcess{}}
}

func newPath(t *testing.T, entities int) *path {
	t.Helper()
	p := &path{
		t: t, gone: map[string]bool{}, visits: map[string][]*workflowv1.VisitRequested{},
		answer: func(string) (*gnomonv1.ShouldProcessResponse, error) { return no(), nil },
		refuse: func(string) error { return nil },
	}
	for i := range entities {
		p.ids = append(p.ids, fmt.Sprintf("o-%04d", i))
	}
	p.env = p.suite.NewTestActivityEnvironment()
	p.env.SetTestTimeout(time.Hour)
	p.env.SetOnActivityHeartbeatListener(func(_ *activity.Info, details converter.EncodedValues) {
		beat := &workflowv1.RewalkPageResult{}
		if details.Get(beat) == nil {
			p.mu.Lock()
			p.beats = append(p.beats, beat)
			p.mu.Unlock()
		}
	})
	p.real = &activities.Rewalks{Store: p, Client: p, TaskQueue: "q", Stages: stages.NewSet(&stages.Declared{
		Declaration: stages.Declaration{Name: "price", EntityType: "offer", ShouldProcessTimeout: time.Second}, Stage: p,
	})}
	p.env.RegisterActivity(p.real)
	return p
}

// ListEntities implements store.Entities.
func (p *path) ListEntities(_ context.Context, q store.EntityQuery) ([]*gnomonv1.Entity, error) {
	var page []*gnomonv1.Entity
	for _, id := range p.ids {
		if id > q.After && len(page) < q.Limit {
			page = append(page, &gnomonv1.Entity{Type: q.Type, Id: id, Version: 3})
		}
	}
	return page, nil
}

// GetStageState implements store.Entities.
func (p *path) GetStageState(_ context.Context, key store.EntityKey, _ string) (*gnomonv1.StageState, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.gone[key.ID] {
		return nil, store.ErrNotFound
	}
	return &gnomonv1.StageState{Version: 1}, nil
}

// CountEntities implements store.Entities.
func (p *path) CountEntities(context.Context, string) (uint64, error) {
	return uint64(len(p.ids)), nil
}

// PutRewalk implements store.Entities.
func (p *path) PutRewalk(_ context.Context, w *gnomonv1.Rewalk, r store.Revision) error {
	if r.Sequence == 0 || r.Incarnation.IsZero() {
		return errors.New("a row must be of a revision")
	}
	p.rows = append(p.rows, w)
	return nil
}

// PeekQueue implements store.Entities.
func (p *path) PeekQueue(_ context.Context, q store.QueueQuery) ([]store.QueueEntry, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return make([]store.QueueEntry, min(p.queue, q.Limit)), nil
}

// SignalWithStartWorkflow implements client.Client.
func (p *path) SignalWithStartWorkflow(_ context.Context, id, _ string, payload any, o client.StartWorkflowOptions, _ any, _ ...any) (client.WorkflowRun, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.refuse(id); err != nil {
		return nil, err
	}
	if o.TaskQueue != "q" {
		return nil, errors.New("not the workflows' queue")
	}
	p.visits[id] = append(p.visits[id], payload.(*workflowv1.VisitRequested))
	p.queue++
	return nil, nil //nolint:nilnil // the run is not looked at
}

// ShouldProcess implements stages.Stage.
func (p *path) ShouldProcess(ctx context.Context, r *gnomonv1.ShouldProcessRequest) (*gnomonv1.ShouldProcessResponse, error) {
	p.mu.Lock()
	p.open++
	p.most = max(p.most, p.open)
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.open--
	}()
	if r.GetState().GetVersion() != 1 || r.GetStage() != "price" {
		return nil, errors.New("it must be given its own state")
	}
	p.mu.Lock()
	p.asked = append(p.asked, r.GetEntity().GetId())
	p.mu.Unlock()
	wait := time.NewTimer(time.Millisecond)
	defer wait.Stop()
	select {
	case <-wait.C:
	case <-ctx.Done():
	}
	return p.answer(r.GetEntity().GetId())
}

// Process implements stages.Stage.
func (p *path) Process(context.Context, *gnomonv1.ProcessRequest) (*gnomonv1.ProcessResponse, error) {
	return nil, errors.New("a walk processes nothing")
}

// page walks one.
func (p *path) page(in *workflowv1.RewalkPageInput) (*workflowv1.RewalkPageResult, error) {
	in.Stage, in.EntityType = "price", "offer"
	v, err := p.env.ExecuteActivity(p.real.RewalkPage, in)
	if err != nil {
		return nil, err
	}
	r := &workflowv1.RewalkPageResult{}
	return r, v.Get(r)
}

// G-30, G-15: who says yes is visited in the background, who names a moment has its timer
// armed, who says no is left alone, and a question that fails counts as yes (G-14).
func TestAPageAsksTheStage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPath(t, 200)
		due := timestamppb.New(time.Now().Add(time.Hour))
		p.answer = func(id string) (*gnomonv1.ShouldProcessResponse, error) {
			switch id {
			case "o-0003":
				return yes(), nil
			case "o-0060":
				return &gnomonv1.ShouldProcessResponse{Answer: &gnomonv1.ShouldProcessResponse_Timer{Timer: due}}, nil
			case "o-0071":
				return nil, errors.New("broken")
			case "o-0072":
				return &gnomonv1.ShouldProcessResponse{}, nil
			}
			return no(), nil
		}
		p.gone["o-0100"] = true
		began := time.Now()
		r, err := p.page(&workflowv1.RewalkPageInput{Limit: 150, Rate: 100})
		require.NoError(t, err)
		require.True(t, proto.Equal(&workflowv1.RewalkPageResult{Position: "o-0149", Walked: 150, Enqueued: 3}, r), "%v", r)
		require.InDelta(t, 1.5, time.Since(began).Seconds(), 0.05, "at its rate")
		require.LessOrEqual(t, p.most, 20)
		require.Len(t, p.asked, 149, "one is gone")
		require.Len(t, p.visits, 4)
		want := &workflowv1.VisitRequested{Stage: "price", Cause: gnomonv1.ProcessRequest_REWALK, Background: true, Version: 3}
		for _, id := range []string{"o-0003", "o-0071", "o-0072"} {
			require.True(t, proto.Equal(want, p.visits["entity/offer/"+id][0]))
		}
		want.Timer = due
		require.True(t, proto.Equal(want, p.visits["entity/offer/o-0060"][0]))
		r, err = p.page(&workflowv1.RewalkPageInput{After: "o-0149", Limit: 150, Rate: 100})
		require.NoError(t, err)
		require.True(t, proto.Equal(&workflowv1.RewalkPageResult{Position: "o-0199", Walked: 50, End: true}, r), "%v", r)
	})
}

// G-30: an unconditional walk asks nobody.
func TestAnUnconditionalPage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPath(t, 60)
		r, err := p.page(&workflowv1.RewalkPageInput{Limit: 1000, Rate: 10_000, Unconditional: true})
		require.NoError(t, err)
		require.True(t, proto.Equal(&workflowv1.RewalkPageResult{Position: "o-0059", Walked: 60, Enqueued: 60, End: true}, r), "%v", r)
		require.Empty(t, p.asked)
		require.Len(t, p.visits, 60)
	})
}

// G-30: whatever happens to an attempt, the next goes on from its heartbeats and leaves
// nobody out.
func TestAPageGoesOnAfterAFailure(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPath(t, 100)
		p.answer = func(string) (*gnomonv1.ShouldProcessResponse, error) { return yes(), nil }
		p.refuse = func(id string) error {
			if id == "entity/offer/o-0057" {
				return errors.New("down")
			}
			return nil
		}
		_, err := p.page(&workflowv1.RewalkPageInput{Limit: 100, Rate: 100})
		require.ErrorContains(t, err, "down")
		last := p.beats[len(p.beats)-1]
		require.True(t, proto.Equal(&workflowv1.RewalkPageResult{Position: "o-0049", Walked: 50, Enqueued: 50}, last), "%v", last)
		p.refuse = func(string) error { return nil }
		p.env.SetHeartbeatDetails(&workflowv1.RewalkPageResult{Position: "o-0029", Walked: 30, Enqueued: 30})
		r, err := p.page(&workflowv1.RewalkPageInput{Limit: 100, Rate: 100})
		require.NoError(t, err)
		require.EqualValues(t, 100, r.GetWalked(), "each counts once")
		require.EqualValues(t, 100, r.GetEnqueued())
		for _, id := range p.ids {
			require.NotEmpty(t, p.visits["entity/offer/"+id], id)
		}
	})
}

// G-30: a stage on whose queue much waits is not given more: the walk waits for it, and
// gives its page back after a while.
func TestAPageWaitsForTheStage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPath(t, 100)
		p.real.Outstanding = 70
		began := time.Now()
		r, err := p.page(&workflowv1.RewalkPageInput{Limit: 100, Rate: 1000, Unconditional: true})
		require.NoError(t, err)
		require.EqualValues(t, 50, r.GetWalked(), "another 50 would be too many")
		require.False(t, r.GetEnd())
		require.InDelta(t, 60, time.Since(began).Seconds(), 2)
		p.queue = 0
		r, err = p.page(&workflowv1.RewalkPageInput{After: r.GetPosition(), Limit: 8, Rate: 1000, Unconditional: true})
		require.NoError(t, err)
		require.EqualValues(t, 8, r.GetWalked())
	})
}

// G-30: a page that is given up, or whose worker stops, comes back soon with what it passed.
func TestAPageIsGivenUp(t *testing.T) {
	t.Parallel()
	for name, giveUp := range map[string]func(*path) func(){
		"cancelled": func(p *path) func() {
			ctx, cancel := context.WithCancel(p.t.Context())
			p.env.SetWorkerOptions(worker.Options{BackgroundActivityContext: ctx})
			return cancel
		},
		"worker stops": func(p *path) func() {
			stop := make(chan struct{})
			p.env.SetWorkerStopChannel(stop)
			return func() { close(stop) }
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p := newPath(t, 5)
				time.AfterFunc(1500*time.Millisecond, giveUp(p))
				began := time.Now()
				r, err := p.page(&workflowv1.RewalkPageInput{Limit: 5, Rate: 0.1, Unconditional: true})
				require.NoError(t, err)
				require.True(t, proto.Equal(&workflowv1.RewalkPageResult{Position: "o-0000", Walked: 1, Enqueued: 1}, r), "%v", r)
				require.Less(t, time.Since(began), 2*time.Second)
			})
		})
	}
}

// A walk at less than an entity a second sends heartbeats while it waits.
func TestASlowWalkShowsThatItLives(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPath(t, 2)
		began := time.Now()
		_, err := p.page(&workflowv1.RewalkPageInput{Limit: 1, Rate: 0.1})
		require.NoError(t, err)
		require.InDelta(t, 10, time.Since(began).Seconds(), 0.1)
		require.GreaterOrEqual(t, len(p.beats), 1)
		require.True(t, slices.IsSortedFunc(p.beats, func(a, b *workflowv1.RewalkPageResult) int { return int(a.GetWalked()) - int(b.GetWalked()) }))
	})
}

func TestTheStoreOfAWalk(t *testing.T) {
	t.Parallel()
	p := newPath(t, 7)
	v, err := p.env.ExecuteActivity(p.real.CountEntities, "offer")
	require.NoError(t, err)
	var count uint64
	require.NoError(t, v.Get(&count))
	require.EqualValues(t, 7, count)
	_, err = p.env.ExecuteActivity(p.real.StoreRewalk, &workflowv1.StoreRewalkInput{
		Walk: &gnomonv1.Rewalk{Stage: "price"}, Incarnation: timestamppb.New(start), Sequence: 1,
	})
	require.NoError(t, err)
	require.Len(t, p.rows, 1)
	p.real.Stages = stages.NewSet()
	_, err = p.page(&workflowv1.RewalkPageInput{Limit: 1, Rate: 1})
	require.ErrorContains(t, err, "no stage")
}
