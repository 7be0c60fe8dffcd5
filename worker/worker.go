package worker

import (
	"context"
	"fmt"
	"os"
	"sync"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"

	"gnomon/activities"
	"gnomon/activities/isolation"
	"gnomon/activities/performers"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/playbook"
	"gnomon/reconcile"
	"gnomon/reconcile/periodic"
	"gnomon/workflows"
)

// Worker is a running worker of one process.
type Worker struct {
	temporal worker.Worker
	batches  worker.Worker
	stages   []worker.Worker
	mirror   *activities.Mirror
	// isolated is the performers' process, nil where they are in this one.
	isolated *isolation.Process

	// beside run from Start to Stop.
	beside  []func(context.Context)
	running sync.WaitGroup
	stop    context.CancelFunc
}

// stickyTimeout is how long a workflow task of a long history waits for the worker that
// has the workflow in its cache before any other may take it; those of short ones wait for
// none (Connection). For some seconds after a kill
// -9 the server still counts on the dead worker, so this comes on top of the
// heartbeat timeout. On top of that comes up to a second in which the server sees the
// lost heartbeat: a timer made for less than a second from now may fire a second
// late (history.timerProcessorMaxTimeShift, 10 ms in gnomon-dev). F1 gives heartbeat timeout + delay(c) +
// 1 s, and delay(c) is 1 s at the least, so that less than a second is left for this
// and for the way to the next attempt. What it costs: a worker that is late by more
// has the history read again, a few kilobytes, and a task counted as timed out.
const stickyTimeout = 600 * time.Millisecond

// born is when this process started: attempts it takes in its first seconds may
// have waited for it and ask before they act.
var born = time.Now()

// New puts a worker together; Start runs it. The client's identity should be
// Identity.
func New(c client.Client, cfg Config) (*Worker, error) {
	cfg = cfg.withDefaults()
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	set, err := performers.New(cfg.Performers)
	if err != nil {
		return nil, err
	}
	identity := Identity(cfg.Build)
	w := &Worker{mirror: activities.NewMirror(cfg.Store, cfg.Logger).Measured(cfg.Metrics)}
	if cfg.Isolate {
		if w.isolated, err = isolation.Start(cfg.Logger); err != nil {
			return nil, err
		}
		set = w.isolated.Set(set)
	}
	forgotten := &reminder{client: c, taskQueue: cfg.TaskQueue, store: cfg.Store, warn: cfg.Logger.Warn}
	w.beside = []func(context.Context){
		forgotten.remind,
		func(ctx context.Context) { purge(ctx, cfg.Store, cfg.RetainNodes, cfg.Logger) },
		func(ctx context.Context) {
			periodic.Keep(ctx, c, cfg.TaskQueue, cfg.ReconcileInterval, cfg.Logger)
		},
	}
	w.temporal = worker.New(c, cfg.TaskQueue, worker.Options{
		Identity:                           identity,
		BuildID:                            workflowv1.BuildID(cfg.Build), //nolint:staticcheck // a deployment's version would add its name to each task
		Interceptors:                       workflows.Interceptors(),
		MaxConcurrentActivityExecutionSize: cfg.MaxAttempts,
		MaxConcurrentActivityTaskPollers:   cfg.Pollers,
		MaxConcurrentWorkflowTaskPollers:   cfg.Pollers,
		WorkerStopTimeout:                  cfg.StopGrace + stopMargin,
		StickyScheduleToStartTimeout:       stickyTimeout,
		// An attempt's heartbeats carry its counters: none is to wait long.
		MaxHeartbeatThrottleInterval: cfg.HeartbeatTimeout / 3,
	})
	workflows.New(workflows.Options{
		HeartbeatTimeout: cfg.HeartbeatTimeout, BatchAttempts: cfg.BatchAttempts, Clusters: playbook.Settings(cfg.Clusters),
		Entities: cfg.Entities,
	}).Register(w.temporal)
	perform := &activities.Perform{
		Performers: set, Mirror: w.mirror, Asker: activities.NewAsker(c), Log: cfg.Logger,
		Worker: identity, Born: born, StopGrace: cfg.StopGrace, Metrics: cfg.Metrics,
	}
	w.temporal.RegisterActivityWithOptions(perform.Perform, activity.RegisterOptions{Name: workflowv1.PerformActivity})
	w.temporal.RegisterActivityWithOptions(w.mirror.Mirror, activity.RegisterOptions{Name: workflowv1.MirrorActivity})
	registerClusters(c, w.temporal, cfg)
	w.batches = registerBatches(c, w.temporal, cfg, identity)
	w.stages = registerEntities(c, w.temporal, cfg, identity)
	registerRewalks(c, w.temporal, cfg)
	cfg.Metrics.RoundsEvery(cfg.ReconcileInterval)
	rounds := &periodic.Rounds{Log: cfg.Logger, Ended: cfg.Metrics.RoundEnded, Config: reconcile.Config{
		Client: c, Store: cfg.Store, TaskQueue: cfg.TaskQueue, Rate: cfg.ReconcileRate,
	}}
	rounds.Register(w.temporal)
	return w, nil
}

// Start begins to poll. It fails if Temporal does not answer or the namespace does
// not exist.
func (w *Worker) Start() error {
	var started []worker.Worker
	for _, one := range w.all() {
		if err := one.Start(); err != nil {
			stopAll(started)
			return err
		}
		started = append(started, one)
	}
	var ctx context.Context
	ctx, w.stop = context.WithCancel(context.Background())
	for _, run := range w.beside {
		w.running.Go(func() { run(ctx) })
	}
	return nil
}

// Stop takes no more tasks, gives the attempts their grace and writes what rows
// still wait.
func (w *Worker) Stop() {
	stopAll(w.all())
	w.stop()
	w.running.Wait()
	ctx, cancel := context.WithTimeout(context.Background(), stopMargin)
	defer cancel()
	w.mirror.Close(ctx)
	if w.isolated != nil {
		w.isolated.Close()
	}
}

// all are the workers of this process, each with its task queue.
func (w *Worker) all() []worker.Worker {
	return append([]worker.Worker{w.temporal, w.batches}, w.stages...)
}

// stopAll stops workers, all at once: each waits for its own attempts.
func stopAll(all []worker.Worker) {
	var stopping sync.WaitGroup
	for _, one := range all {
		stopping.Go(one.Stop)
	}
	stopping.Wait()
}

// Identity names this process for people: host, build, process id (M-58).
func Identity(build string) string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return fmt.Sprintf("gnomon-worker@%s/%s/%d", host, build, os.Getpid())
}
