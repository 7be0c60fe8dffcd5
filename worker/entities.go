package worker

import (
	"cmp"
	"context"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"

	"gnomon/activities"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/stages"
	"gnomon/stages/wake"
	"gnomon/store"
)

const (
	// defaultVisits is how many visits of a stage one process has under way, those that
	// wait for the stage's limits among them, if its parallelism does not say.
	defaultVisits = 64
	// visitPollers is how many polls for a stage's visits are open at once.
	visitPollers = 4
)

// registerEntities registers the activities of entities, and gives a worker for each
// stage, with a task queue of its own: the visits of one wait for no other's (G-03).
func registerEntities(c client.Client, registry worker.ActivityRegistry, cfg Config, identity string) []worker.Worker {
	e := &activities.Entities{Store: cfg.Store, Stages: cfg.Stages, Publisher: cfg.Publisher, Log: cfg.Logger, RateClock: cfg.RateClock}
	registry.RegisterActivityWithOptions(e.AskStages, activity.RegisterOptions{Name: workflowv1.AskStagesActivity})
	registry.RegisterActivityWithOptions(e.PublishSaved, activity.RegisterOptions{Name: workflowv1.PublishSavedActivity})
	registry.RegisterActivityWithOptions(e.MirrorQueue, activity.RegisterOptions{Name: workflowv1.MirrorQueueActivity})
	var all []worker.Worker
	for _, stage := range cfg.Stages.All() {
		own := worker.New(c, workflowv1.StageTaskQueue(cfg.TaskQueue, stage.Name), worker.Options{
			Identity:                           identity,
			BuildID:                            workflowv1.BuildID(cfg.Build), //nolint:staticcheck // as in New
			DisableWorkflowWorker:              true,
			MaxConcurrentActivityExecutionSize: visitsAtOnce(stage),
			MaxConcurrentActivityTaskPollers:   min(visitPollers, visitsAtOnce(stage)),
			WorkerStopTimeout:                  cfg.StopGrace + stopMargin,
			// A visit that is called back learns of it by its heartbeats.
			MaxHeartbeatThrottleInterval: min(cfg.HeartbeatTimeout/3, time.Second),
		})
		own.RegisterActivityWithOptions(e.Process, activity.RegisterOptions{Name: workflowv1.ProcessActivity})
		all = append(all, own)
	}
	return all
}

// visitsAtOnce is how many visits of a stage this process has under way: with a limit for
// all workers together twice that, as any of them may have to use it alone, and is to have
// the next at hand when a call ends.
func visitsAtOnce(stage *stages.Declared) int {
	return min(int(cmp.Or(2*stage.Parallelism, defaultVisits)), defaultVisits*16)
}

const (
	// remindEvery is how often a worker looks for entities whose workflows may not have
	// been told, or the first time, of what was committed.
	remindEvery = 10 * time.Second
	// forgottenAfter is how old a record is then at least: telling and publishing take
	// far less.
	forgottenAfter = 10 * time.Second
	// forgottenPage is how many are read at once.
	forgottenPage = 500
	// remindRarest is how often an entity is reminded at least while its records are not
	// published, as a publisher may be down for long.
	remindRarest = 10 * time.Minute
)

// reminder has the workflows of entities told again of versions whose records nobody has
// published: whoever committed them may have died before it told.
type reminder struct {
	client    client.Client
	taskQueue string
	store     store.Entities
	warn      func(message string, args ...any)
	// told are those that were reminded and not found published since, by their keys.
	told map[store.EntityKey]reminded
}

type reminded struct {
	version int64
	at      time.Time
	pause   time.Duration
}

// remind reminds until ctx ends.
func (r *reminder) remind(ctx context.Context) {
	ticker := time.NewTicker(remindEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if err := r.round(ctx, time.Now()); err != nil && ctx.Err() == nil {
			r.warn("Entities whose changes nobody was told of could not be reminded yet.", "error", err)
		}
	}
}

// round reminds of all that is forgotten by now.
func (r *reminder) round(ctx context.Context, now time.Time) error {
	still := map[store.EntityKey]reminded{}
	after := store.EntityKey{}
	for {
		found, err := r.store.Forgotten(ctx, now.Add(-forgottenAfter), after, forgottenPage)
		if err != nil {
			return err
		}
		for _, one := range found {
			known, ok := r.told[one.Key]
			switch {
			case !ok || known.version != one.Version:
				known = reminded{version: one.Version, pause: remindEvery}
			case now.Before(known.at.Add(known.pause)):
				still[one.Key] = known
				continue
			default:
				known.pause = min(known.pause*2, remindRarest)
			}
			if err := wake.Changed(ctx, r.client, r.taskQueue, one.Key, one.Version, nil); err != nil {
				return err
			}
			known.at = now
			still[one.Key] = known
		}
		if len(found) < forgottenPage {
			r.told = still
			return nil
		}
		after = found[len(found)-1].Key
	}
}
