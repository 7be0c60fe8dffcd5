package activities

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"google.golang.org/protobuf/proto"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/entity"
	"gnomon/stages"
	"gnomon/stages/wake"
	"gnomon/store"
)

// Rewalks are the activities of walks (G-30). Its fields are set once, before the worker
// starts.
type Rewalks struct {
	Store  store.Entities
	Stages *stages.Set
	Client client.Client
	// TaskQueue is where Entity workflows run.
	TaskQueue string
	// Outstanding is how many entities may wait in the stage's queue before a walk waits
	// for it. Default DefaultOutstanding.
	Outstanding int
}

const (
	// DefaultOutstanding bounds what a walk has wait in its stage's queue. What the rows of
	// the queue are behind, a few seconds, may come on top of it.
	DefaultOutstanding = 1000
	// walkLooks lies between two looks at the stage's queue while a walk waits for it.
	walkLooks = time.Second
	// walkFor is how long a page may wait before it is given back to the workflow, which
	// stores how far it came.
	walkFor = time.Minute
)

// CountEntities is the activity: it says how many entities of a type there are.
func (w *Rewalks) CountEntities(ctx context.Context, entityType string) (uint64, error) {
	return w.Store.CountEntities(ctx, entityType)
}

// StoreRewalk is the activity: it stores how far a walk is. It fails until the store took
// it.
func (w *Rewalks) StoreRewalk(ctx context.Context, in *workflowv1.StoreRewalkInput) error {
	return w.Store.PutRewalk(ctx, in.GetWalk(), store.Revision{Incarnation: in.GetIncarnation().AsTime(), Sequence: in.GetSequence()})
}

// RewalkPage is the activity: it walks through some entities at the walk's rate. Its
// heartbeats say how far it came, and an attempt goes on from there: what was passed after
// the last of them is passed again, and none is left out. Where the stage has more waiting
// than it should, or the attempt is to end, it comes back sooner.
func (w *Rewalks) RewalkPage(ctx context.Context, in *workflowv1.RewalkPageInput) (*workflowv1.RewalkPageResult, error) {
	stage := w.Stages.Named(in.GetStage())
	if stage == nil {
		return nil, fmt.Errorf("no stage %q is declared here", in.GetStage())
	}
	p := &walkedPage{Rewalks: w, stage: stage, in: in, done: &workflowv1.RewalkPageResult{Position: in.GetAfter()}, ends: time.Now().Add(walkFor)}
	if activity.HasHeartbeatDetails(ctx) {
		if err := activity.GetHeartbeatDetails(ctx, p.done); err != nil {
			return nil, err
		}
	}
	return p.walk(ctx)
}

// walkedPage is one attempt of a page.
type walkedPage struct {
	*Rewalks

	stage *stages.Declared
	in    *workflowv1.RewalkPageInput
	done  *workflowv1.RewalkPageResult
	ends  time.Time
	// room is how many visits may be asked for before the queue is looked at again.
	room int
}

// walkRead is how many entities are read at a time: one may have 256 KiB.
const walkRead = 50

func (p *walkedPage) walk(ctx context.Context) (*workflowv1.RewalkPageResult, error) {
	pace, began, passed := entity.PaceOf(p.in.GetRate()), time.Now(), 0
	for {
		limit := min(walkRead, int(p.in.GetLimit())-int(p.done.GetWalked()))
		if limit <= 0 {
			return p.done, nil
		}
		some, err := p.Store.ListEntities(ctx, store.EntityQuery{Type: p.in.GetEntityType(), After: p.done.GetPosition(), Limit: limit})
		if err != nil {
			return p.soFar(ctx, err)
		}
		for _, chunk := range pace.Chunks(some) {
			if ready, err := p.hasRoom(ctx, len(chunk)); err != nil || !ready {
				return p.soFar(ctx, err)
			}
			if err := p.pass(ctx, chunk); err != nil {
				return p.soFar(ctx, err)
			}
			passed += len(chunk)
			if !p.pause(ctx, time.Until(began.Add(pace.After(passed)))) {
				return p.done, nil
			}
		}
		if len(some) < limit {
			p.done.End = true
			return p.done, nil
		}
	}
}

// soFar is how far a page came that ends before its time. If that is since the attempt is
// to end, it is a result and no failure.
func (p *walkedPage) soFar(ctx context.Context, err error) (*workflowv1.RewalkPageResult, error) {
	if err != nil && ctx.Err() == nil {
		return nil, err
	}
	return p.done, nil
}

// pause waits and sends heartbeats, and says whether the walk may go on.
func (p *walkedPage) pause(ctx context.Context, d time.Duration) bool {
	for {
		activity.RecordHeartbeat(ctx, proto.CloneOf(p.done))
		select {
		case <-ctx.Done():
			return false
		case <-activity.GetWorkerStopChannel(ctx):
			return false
		default:
		}
		if d <= 0 {
			return true
		}
		step := time.NewTimer(min(d, walkLooks))
		select {
		case <-ctx.Done():
		case <-activity.GetWorkerStopChannel(ctx):
		case <-step.C:
		}
		step.Stop()
		d -= walkLooks
	}
}

// hasRoom waits until so many more entities may wait in the stage's queue. It says no if
// that takes too long.
func (p *walkedPage) hasRoom(ctx context.Context, wanted int) (bool, error) {
	bound := p.Outstanding
	if bound <= 0 {
		bound = DefaultOutstanding
	}
	wanted = min(wanted, bound)
	for p.room < wanted {
		waiting, err := p.Store.PeekQueue(ctx, store.QueueQuery{Stage: p.stage.Name, Limit: bound})
		if err != nil {
			return false, err
		}
		if p.room = bound - len(waiting); p.room >= wanted {
			return true, nil
		}
		if time.Now().After(p.ends) || !p.pause(ctx, walkLooks) {
			return false, nil
		}
	}
	return true, nil
}

// pass asks about some entities side by side. Only if that went well for all of them they
// are passed.
func (p *walkedPage) pass(ctx context.Context, chunk []*gnomonv1.Entity) error {
	wants := make([]bool, len(chunk))
	errs := make([]error, len(chunk))
	var asking sync.WaitGroup
	for i, e := range chunk {
		asking.Go(func() { wants[i], errs[i] = p.ask(ctx, e) })
	}
	asking.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	for _, wanted := range wants {
		if wanted {
			p.room--
			p.done.Enqueued++
		}
	}
	p.done.Walked += uint64(len(chunk))
	p.done.Position = chunk[len(chunk)-1].GetId()
	return nil
}

// ask asks about one entity, unless it is to be visited anyway, and tells its workflow
// what came of that. One that is gone is passed.
func (p *walkedPage) ask(ctx context.Context, e *gnomonv1.Entity) (visit bool, err error) {
	key := store.EntityKey{Type: e.GetType(), ID: e.GetId()}
	wanted := &workflowv1.VisitRequested{
		Stage: p.stage.Name, Cause: gnomonv1.ProcessRequest_REWALK, Background: true, Version: e.GetVersion(),
	}
	if !p.in.GetUnconditional() {
		state, err := p.Store.GetStageState(ctx, key, p.stage.Name)
		if errors.Is(err, store.ErrNotFound) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		answer := askStage(ctx, p.stage, &gnomonv1.ShouldProcessRequest{Stage: p.stage.Name, Entity: e, State: state})
		if ctx.Err() != nil {
			return false, ctx.Err() // it may have failed for that
		}
		if answer == nil {
			return false, nil
		}
		wanted.Timer = answer.GetTimer()
	}
	return wanted.GetTimer() == nil, wake.Visit(ctx, p.Client, p.TaskQueue, key, wanted)
}
