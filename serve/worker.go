package serve

import (
	"context"
	"io"
	"log/slog"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"gnomon/activities/isolation"
	"gnomon/activities/performers"
	"gnomon/changes/kinds"
	"gnomon/metrics"
	"gnomon/notices/channels"
	"gnomon/reconcile"
	"gnomon/store/open"
	"gnomon/worker"
)

// Worker is the command `gnomon worker` of a build.
func Worker(build string) *cobra.Command {
	s := &settings{}
	cfg := worker.Config{Performers: performers.Default(), Build: build}
	var notifications string
	var clusters clusterFlags
	var published PublishFlags
	cmd := &cobra.Command{
		Use:     "worker",
		Short:   "Perform the actions",
		Long:    "worker polls Temporal for workflows and activities and performs the actions. Any number may run; one that is lost is replaced by the others.",
		Example: "  gnomon worker --temporal-address 127.0.0.1:7233 --store sqlite:gnomon.db",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := fromEnvironment(cmd); err != nil {
				return err
			}
			var err error
			if cfg.Clusters, err = clusters.settings(); err != nil {
				return err
			}
			return s.work(cmd, cfg, notifications, &published)
		},
	}
	s.flags(cmd)
	s.observing.flags(cmd, workerMetrics)
	f := cmd.Flags()
	f.DurationVar(&cfg.HeartbeatTimeout, "heartbeat-timeout", 10*time.Second, "silence after which an attempt counts as interrupted (env GNOMON_HEARTBEAT_TIMEOUT)")
	f.DurationVar(&cfg.StopGrace, "stop-grace", 10*time.Second, "how long attempts may go on when the worker stops (env GNOMON_STOP_GRACE)")
	f.IntVar(&cfg.MaxAttempts, "max-attempts", 1000, "attempts at once in this process (env GNOMON_MAX_ATTEMPTS)")
	f.BoolVar(&cfg.Isolate, "isolate-performers", isolation.Supported, "perform actions in a process of their own, so that one that loops or crashes does not reach the others (env GNOMON_ISOLATE_PERFORMERS)")
	f.IntVar(&cfg.Pollers, "pollers", 16, "open polls of each kind (env GNOMON_POLLERS)")
	f.DurationVar(&cfg.ReconcileInterval, "reconcile-interval", 10*time.Minute, "pause between two rounds of the reconciler, 0 for no reconciler; the worker started last decides (env GNOMON_RECONCILE_INTERVAL)")
	f.Float64Var(&cfg.ReconcileRate, "reconcile-rate", reconcile.DefaultRate, "actions that the reconciler looks at a second (env GNOMON_RECONCILE_RATE)")
	f.StringVar(&notifications, "notifications", "", "file of the channels by which people are told of batches, see docs/batches.md; without one they are told in the log (env GNOMON_NOTIFICATIONS)")
	f.Int32Var(&cfg.BatchAttempts, "batch-attempts", worker.DefaultBatchAttempts, "how often a batch is begun before a person has to review it (env GNOMON_BATCH_ATTEMPTS)")
	clusters.register(f)
	published.Register(f)
	f.DurationVar(&cfg.RetainNodes, "retain-nodes", 90*24*time.Hour, "how long node actions and playbooks are kept after they finished, 0 for ever; their ids may be used again then (env GNOMON_RETAIN_NODES)")
	notificatorFlags(f, &cfg.Performers.Notificator)
	return cmd
}

// work runs the worker until the command's context ends.
func (s *settings) work(cmd *cobra.Command, cfg worker.Config, notifications string, published *PublishFlags) error {
	ctx := cmd.Context()
	log, err := s.logger(os.Stderr)
	if err != nil {
		return err
	}
	cfg.Performers.AllowMock = s.allowMock
	endTraces, err := s.trace(ctx, "gnomon-worker", cfg.Build, log)
	if err != nil {
		return err
	}
	defer endTraces()
	if asked, err := worker.PerformForParent(cfg.Performers, s.tracing, log); asked {
		return err
	}
	plugged, err := s.plugIn(ctx, &cfg, notifications, published, log)
	defer plugged()
	if err != nil {
		return err
	}
	if err := s.observing.begin(cfg.Build); err != nil {
		return err
	}
	c, _, err := s.dial(ctx, worker.Identity(cfg.Build), log)
	if err != nil {
		return err
	}
	defer c.Close()
	rows, err := s.migrating.open(ctx, cmd, s.store)
	if err != nil {
		return err
	}
	defer rows.Close()
	rows = s.observing.registry.Store(rows)
	if err := s.observing.listen(ctx, log, metrics.Checks(c, rows)...); err != nil {
		return err
	}
	defer s.observing.close(log)
	cfg.Metrics = metrics.NewWorker(s.observing.registry)
	cfg.TaskQueue, cfg.Store, cfg.Logger = s.taskQueue, rows, log
	if open.OneMachine(s.store) {
		cfg.RateClock = time.Now
	}
	w, err := worker.New(c, cfg)
	if err != nil {
		return err
	}
	if err := w.Start(); err != nil {
		return err
	}
	s.observing.server.Serving()
	log.Info("The worker polls.", "taskQueue", s.taskQueue)
	<-ctx.Done()
	s.observing.server.Stopping()
	log.Info("The worker stops: it takes no more attempts and gives those that run their grace.", "grace", cfg.StopGrace)
	w.Stop()
	return nil
}

// plugIn opens what an installation plugs into its worker: kinds of changes, channels,
// stages, and where saved entities are told of. What it gives closes them, also after an
// error.
func (s *settings) plugIn(ctx context.Context, cfg *worker.Config, notifications string, published *PublishFlags, log *slog.Logger) (closeAll func(), err error) {
	var parts []func()
	closeAll = func() {
		for _, end := range slices.Backward(parts) {
			end()
		}
	}
	if cfg.Changes, err = kinds.Open(s.dnsZones); err != nil {
		return closeAll, err
	}
	parts = append(parts, func() { closed(log, "kinds of changes", cfg.Changes) })
	told, err := channels.Open(notifications, log)
	if err != nil {
		return closeAll, err
	}
	parts = append(parts, func() { closed(log, "channels", told) })
	cfg.Notices = told.Set
	watched, err := OpenStages(ctx, s.stages, published, log)
	if err != nil {
		return closeAll, err
	}
	parts = append(parts, func() { closed(log, "stages", watched) })
	cfg.Stages, cfg.Publisher = watched.Set, watched.Publisher
	return closeAll, nil
}

// closed closes what has done its work.
func closed(log *slog.Logger, what string, c io.Closer) {
	if err := c.Close(); err != nil {
		log.Warn("It did not stop cleanly.", "part", what, "error", err)
	}
}
