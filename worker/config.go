package worker

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"gnomon/activities/performers"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/changes"
	"gnomon/metrics"
	"gnomon/notices"
	"gnomon/publish"
	"gnomon/reconcile"
	"gnomon/stages"
	"gnomon/store"
)

// Config is what a worker needs. Default fills in what may be left out.
type Config struct {
	// TaskQueue is polled for workflows and activities. Default "gnomon".
	TaskQueue string
	// Store is the mirror of actions and holds batches. Required.
	Store store.Store
	// Performers configures the kinds of actions.
	Performers performers.Config
	// Isolate has actions performed in a process of their own, so that a performer that
	// loops or brings its process down does not reach the others (F11). The process is
	// this program again: its main must then call [PerformForParent] before New, and do
	// nothing else if that was asked for. Default: in this process.
	Isolate bool
	// Changes are the kinds of changes of batches. The facade should have the same.
	Changes changes.Set
	// Notices are the channels by which people are told of batches.
	Notices notices.Set
	// BatchAttempts is how often the processing of a batch is begun in one round before
	// a person has to look at it. At least 1, default DefaultBatchAttempts (V-11).
	BatchAttempts int32
	// Clusters is how clusters are orchestrated. What is not set has its default, see
	// [playbook.Settings]. Workers should have the same.
	Clusters *workflowv1.ClusterSettings
	// Stages are those that watch entities, with where they are called. All workers should
	// have the same, and the facade. Default: none.
	Stages *stages.Set
	// Publisher sends what was saved to those outside. Default: nobody is told.
	Publisher publish.Publisher
	// Entities is how visits of stages are ordered. What is not set has its default, see
	// [entity.Policy]. Workers should have the same.
	Entities *workflowv1.EntitySettings
	// RateClock gives the time that rate limits of stages go by, where all workers have a
	// clock in common, such as that of their only machine. Default: Temporal's, as each
	// worker learns it.
	RateClock func() time.Time
	// RetainNodes is how long the store keeps node actions and playbooks that have finished.
	// At least an hour, or 0 (the default) for ever. Their ids may be used again then.
	RetainNodes time.Duration
	// HeartbeatTimeout is how long after its last sign of life an attempt counts as
	// interrupted. 1 second to 10 minutes, default 10 seconds.
	HeartbeatTimeout time.Duration
	// StopGrace is how long attempts may go on when the worker stops. Default 10
	// seconds.
	StopGrace time.Duration
	// MaxAttempts is how many attempts run at once in this process. Default 1,000.
	MaxAttempts int
	// Pollers is how many polls for tasks of each kind are open at once. Default 16.
	Pollers int
	// ReconcileInterval is how long lies between two rounds of the reconciler of the
	// task queue: 1 second to 30 days, or 0 (the default) for no reconciler. Of several
	// workers that differ, the one that started last has its way.
	ReconcileInterval time.Duration
	// ReconcileRate is how many actions a round looks at a second. Default 100.
	ReconcileRate float64
	// Metrics measures attempts, the mirror and the reconciler. It may be nil; the
	// store and the client are measured by who makes them.
	Metrics *metrics.Worker
	// Build names the build, in the identity of the worker and as the build id of its
	// tasks. Default "dev", with the SDK's checksum of the binary as the build id.
	Build string
	// Logger receives what operators should know. Default slog.Default().
	Logger *slog.Logger
}

// DefaultBatchAttempts is how often the processing of a batch is begun in one round: once
// and 100 times again (V-11, V-19).
const DefaultBatchAttempts = 101

// stopMargin is what a stopping attempt gets beyond its grace, to report.
const stopMargin = 3 * time.Second

func (c Config) withDefaults() Config {
	if c.TaskQueue == "" {
		c.TaskQueue = workflowv1.DefaultTaskQueue
	}
	if c.HeartbeatTimeout == 0 {
		c.HeartbeatTimeout = 10 * time.Second
	}
	if c.StopGrace == 0 {
		c.StopGrace = 10 * time.Second
	}
	if c.MaxAttempts == 0 {
		c.MaxAttempts = 1000
	}
	if c.Pollers == 0 {
		c.Pollers = 16
	}
	if c.BatchAttempts == 0 {
		c.BatchAttempts = DefaultBatchAttempts
	}
	if c.ReconcileRate == 0 {
		c.ReconcileRate = reconcile.DefaultRate
	}
	if c.Stages == nil {
		c.Stages = stages.NewSet()
	}
	if c.Build == "" {
		c.Build = workflowv1.Development
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	return c
}

// Validate says what is wrong, naming field, value and rule.
func (c Config) Validate() error {
	var bad []error
	if c.Store == nil {
		bad = append(bad, errors.New("the worker's Store must be set"))
	}
	if c.HeartbeatTimeout < time.Second || c.HeartbeatTimeout > 10*time.Minute {
		bad = append(bad, fmt.Errorf("HeartbeatTimeout is %s and must be 1s to 10m", c.HeartbeatTimeout))
	}
	if c.StopGrace < 0 || c.StopGrace > time.Hour {
		bad = append(bad, fmt.Errorf("StopGrace is %s and must be 0s to 1h", c.StopGrace))
	}
	if c.MaxAttempts < 1 || c.Pollers < 2 {
		bad = append(bad, fmt.Errorf("MaxAttempts is %d and must be at least 1; Pollers is %d and must be at least 2", c.MaxAttempts, c.Pollers))
	}
	if c.RetainNodes != 0 && c.RetainNodes < time.Hour {
		bad = append(bad, fmt.Errorf("RetainNodes is %s and must be at least 1h, or 0 for ever", c.RetainNodes))
	}
	if c.BatchAttempts < 1 {
		bad = append(bad, fmt.Errorf("BatchAttempts is %d and must be at least 1", c.BatchAttempts))
	}
	if c.ReconcileInterval != 0 && (c.ReconcileInterval < time.Second || c.ReconcileInterval > 30*24*time.Hour) {
		bad = append(bad, fmt.Errorf("ReconcileInterval is %s and must be 1s to 720h, or 0 for none", c.ReconcileInterval))
	}
	if c.ReconcileRate < 0 {
		bad = append(bad, fmt.Errorf("ReconcileRate is %g and must be above 0", c.ReconcileRate))
	}
	return errors.Join(bad...)
}
