package activities

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/entity"
	"gnomon/outbound"
	"gnomon/publish"
	"gnomon/stages"
	"gnomon/store"
)

// Entities are the activities of entities (seed 004): questions to stages, their visits,
// and what is owed to the outside and to readers of the queue. Its fields are set once,
// before the worker starts.
type Entities struct {
	Store  store.Entities
	Stages *stages.Set
	// Publisher sends what was saved. Nil: nobody is told.
	Publisher publish.Publisher
	Log       *slog.Logger
	// Now gives the time, the same for all workers. Default: by Temporal's clock, as the
	// starts of attempts tell it.
	Now func() time.Time
	// RateClock gives the time that the rates of stages go by: the nearer the clocks of all
	// workers are to each other, the more exactly a rate is kept. Default: Now.
	RateClock func() time.Time

	clock  commonClock
	mu     sync.Mutex
	limits map[string]*limits
}

// maxVisitError bounds what is kept of a stage's error.
const maxVisitError = 1024

// now is the time by the clock that all workers share.
func (e *Entities) now(ctx context.Context) func() time.Time {
	if e.Now != nil {
		return e.Now
	}
	e.clock.learn(activity.GetInfo(ctx).StartedTime, time.Now())
	return e.clock.now
}

// AskStages is the activity: it asks stages whether they want to visit an entity (G-15),
// side by side, those whom it concerns by the fields of their interest (G-29). A question
// that fails counts as yes (G-14). It fails, to be tried again, only with the store.
func (e *Entities) AskStages(ctx context.Context, in *workflowv1.AskInput) (*workflowv1.AskResult, error) {
	e.now(ctx) // the more deliveries are seen, the truer is the clock
	quiet := heartbeats(ctx)
	defer quiet()
	key := store.EntityKey{Type: in.GetType(), ID: in.GetId()}
	found, err := e.Store.GetEntity(ctx, key)
	if errors.Is(err, store.ErrNotFound) {
		return &workflowv1.AskResult{Gone: true}, nil
	}
	if err != nil {
		return nil, again("NotAsked", err, activity.GetInfo(ctx).Attempt)
	}
	var asked []*stages.Declared
	for _, stage := range e.Stages.Of(in.GetType()) {
		if concerned(stage, in) {
			asked = append(asked, stage)
		}
	}
	states := make([]*gnomonv1.StageState, len(asked))
	for i, stage := range asked {
		if states[i], err = e.Store.GetStageState(ctx, key, stage.Name); errors.Is(err, store.ErrNotFound) {
			return &workflowv1.AskResult{Gone: true}, nil
		} else if err != nil {
			return nil, again("NotAsked", err, activity.GetInfo(ctx).Attempt)
		}
	}
	answers := make([]*workflowv1.AskResult_Answer, len(asked))
	var asking sync.WaitGroup
	for i, stage := range asked {
		asking.Go(func() {
			answers[i] = askStage(ctx, stage, &gnomonv1.ShouldProcessRequest{Stage: stage.Name, Entity: found, State: states[i]})
		})
	}
	asking.Wait()
	return &workflowv1.AskResult{
		Version: found.GetVersion(),
		Answers: slices.DeleteFunc(answers, func(a *workflowv1.AskResult_Answer) bool { return a == nil }),
	}, nil
}

// heartbeats has a lost worker be noticed, until the function it returns is called: what
// takes a moment mostly may take as long as a stage is allowed to.
func heartbeats(ctx context.Context) (quiet func()) {
	every := activity.GetInfo(ctx).HeartbeatTimeout / 4
	if every <= 0 {
		return func() {}
	}
	done := make(chan struct{})
	var beats sync.WaitGroup
	beats.Go(func() {
		ticker := time.NewTicker(every)
		defer ticker.Stop()
		for {
			select {
			case <-done:
				return
			case <-ticker.C:
				activity.RecordHeartbeat(ctx)
			}
		}
	})
	return func() {
		close(done)
		beats.Wait()
	}
}

// concerned says whether a stage is to be asked.
func concerned(stage *stages.Declared, in *workflowv1.AskInput) bool {
	switch {
	case slices.Contains(in.GetExcept(), stage.Name):
		return false
	case len(in.GetOnly()) > 0:
		return slices.Contains(in.GetOnly(), stage.Name)
	case len(in.GetFields()) == 0 || len(stage.Fields) == 0 || slices.Contains(in.GetAlso(), stage.Name):
		return true
	}
	return slices.ContainsFunc(in.GetFields(), func(f string) bool { return slices.Contains(stage.Fields, f) })
}

// askStage asks one stage; nil: no.
func askStage(ctx context.Context, stage *stages.Declared, r *gnomonv1.ShouldProcessRequest) *workflowv1.AskResult_Answer {
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(stage.ShouldProcessTimeout, time.Second))
	defer cancel()
	yes := &workflowv1.AskResult_Answer{Stage: stage.Name, Visit: true}
	response, err := stage.ShouldProcess(ctx, r)
	if err != nil {
		yes.Error = outbound.Shorten(err.Error(), maxVisitError)
		return yes
	}
	switch answer := response.GetAnswer().(type) {
	case *gnomonv1.ShouldProcessResponse_ShouldProcess:
		if !answer.ShouldProcess {
			return nil
		}
		return yes
	case *gnomonv1.ShouldProcessResponse_Timer:
		if answer.Timer.CheckValid() == nil {
			return &workflowv1.AskResult_Answer{Stage: stage.Name, Timer: answer.Timer}
		}
		yes.Error = "it answered a timer that is not a valid time"
	default:
		yes.Error = "it answered neither yes or no nor a timer"
	}
	return yes
}

const (
	// publishPage is how many records are published at once.
	publishPage = 20
	// publishTimeout bounds one call of the publisher, below the activity's heartbeats.
	publishTimeout = 20 * time.Second
)

// PublishSaved is the activity: it publishes an entity's records in their order, at least
// once each, until none is left (G-12). It fails, to be tried again, with the publisher
// or the store.
//
// A record that is published reminds nobody any more of the change, so that the workflow
// is told here of changes from outside, whose maker may have died before telling.
func (e *Entities) PublishSaved(ctx context.Context, in *workflowv1.PublishSavedInput) (*workflowv1.PublishSavedResult, error) {
	e.now(ctx) // as in AskStages
	key := store.EntityKey{Type: in.GetType(), ID: in.GetId()}
	result := &workflowv1.PublishSavedResult{}
	if activity.HasHeartbeatDetails(ctx) && activity.GetHeartbeatDetails(ctx, result) != nil {
		result = &workflowv1.PublishSavedResult{}
	}
	for {
		activity.RecordHeartbeat(ctx, result)
		records, err := e.Store.Unpublished(ctx, key, publishPage)
		if err != nil {
			return nil, again("NotPublished", err, activity.GetInfo(ctx).Attempt)
		}
		if len(records) == 0 {
			return e.withVersion(ctx, key, result)
		}
		if err := e.publish(ctx, records); err != nil {
			return nil, temporal.NewApplicationErrorWithOptions("the records could not be published: "+outbound.Shorten(err.Error(), maxVisitError), "NotPublished",
				temporal.ApplicationErrorOptions{Category: temporal.ApplicationErrorCategoryBenign})
		}
		for _, r := range records {
			if r.GetStage() == "" {
				result.Version = max(result.GetVersion(), r.GetEntity().GetVersion())
			}
		}
		activity.RecordHeartbeat(ctx, result) // before the records are gone
		last := records[len(records)-1].GetSequence()
		if err := e.Store.Published(ctx, key, last); err != nil {
			return nil, again("NotPublished", err, activity.GetInfo(ctx).Attempt)
		}
		result.Published, result.Sequence = result.GetPublished()+uint64(len(records)), last
	}
}

// withVersion adds what an attempt before, or one that a run left behind, may have
// published and not reported. If a stage has changed the entity since, its visit tells of
// versions that it alone has seen.
func (e *Entities) withVersion(ctx context.Context, key store.EntityKey, result *workflowv1.PublishSavedResult) (*workflowv1.PublishSavedResult, error) {
	stands, err := e.Store.GetEntity(ctx, key)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return result, nil
	case err != nil:
		return nil, again("NotPublished", err, activity.GetInfo(ctx).Attempt)
	case stands.GetChangedByStage() == "":
		result.Version = max(result.GetVersion(), stands.GetVersion())
	}
	return result, nil
}

func (e *Entities) publish(ctx context.Context, records []*gnomonv1.SavedRecord) error {
	if e.Publisher == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, publishTimeout)
	defer cancel()
	return e.Publisher.Publish(ctx, records)
}

// MirrorQueue is the activity: it stores an entity's rows of the queue (G-34). It fails
// until the store took them.
func (e *Entities) MirrorQueue(ctx context.Context, in *workflowv1.MirrorQueueInput) error {
	w := store.QueueWrite{
		Key:      store.EntityKey{Type: in.GetType(), ID: in.GetId()},
		Revision: store.Revision{Incarnation: in.GetIncarnation().AsTime(), Sequence: in.GetSequence()},
	}
	for _, row := range in.GetEntries() {
		w.Entries = append(w.Entries, store.QueueEntry{
			Stage: row.GetStage(), EnqueueTime: row.GetEnqueueTime().AsTime(), Background: row.GetBackground(),
		})
	}
	return e.Store.PutQueue(ctx, w)
}

// again is an error that is tried again soon: what it is for waits, and has not failed.
func again(kind string, err error, attempt int32) error {
	return temporal.NewApplicationErrorWithOptions(outbound.Shorten(err.Error(), maxVisitError), kind, temporal.ApplicationErrorOptions{
		Category: temporal.ApplicationErrorCategoryBenign, NextRetryDelay: soon(attempt),
	})
}

// soon grows with the attempts to a second.
func soon(attempt int32) time.Duration {
	return min(20*time.Millisecond<<min(max(attempt-1, 0), 6), time.Second)
}

// entityOf is what the store is given of an entity whose content alone is new.
func entityOf(e *gnomonv1.Entity, u entity.Update) *gnomonv1.Entity {
	if u.Content == nil {
		return nil
	}
	return &gnomonv1.Entity{Type: e.GetType(), Id: e.GetId(), Content: u.Content}
}

var errUndeclared = errors.New("no stage of this name is declared here")

func undeclared(name string) error { return fmt.Errorf("%w: %s", errUndeclared, name) }
