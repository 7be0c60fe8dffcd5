package record

import (
	"context"
	"log/slog"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"

	"gnomon/activities/performers"
	"gnomon/receiver"
	"gnomon/starter"
	"gnomon/store/faulty"
	"gnomon/store/sqlite"
	"gnomon/worker"
)

const (
	// heartbeat is after how long a lost worker is noticed, lostHeartbeat where one is
	// lost. Less would find workers lost that are only slow, on a machine that is busy with
	// other tests.
	heartbeat     = 30 * time.Second
	lostHeartbeat = 15 * time.Second
	// applyTimeout is how long a facade waits for a worker that there is.
	applyTimeout = time.Minute
	// soonest and latest bound soon.
	soonest = 4 * time.Second
	latest  = 40 * time.Second
)

// installation is a facade, a store that can be broken, a receiver, and a worker
// that can be stopped, all on a task queue of their own.
type installation struct {
	client  client.Client
	queue   string
	rows    string
	store   *faulty.Store
	facade  *starter.Actions
	inbox   *receiver.Receiver
	log     *slog.Logger
	working *worker.Worker
	// heartbeat is that of the worker's attempts.
	heartbeat time.Duration
	// measure is done once, by soon.
	measure sync.Once
	ahead   time.Duration
	// batches is what a worker of batches, or of clusters, has beside.
	batches worker.Config
}

// install brings an installation up.
func install(t *testing.T) *installation {
	t.Helper()
	i := installIdle(t)
	i.work(t)
	return i
}

// installIdle is install without a worker.
func installIdle(t *testing.T) *installation {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	c, err := client.Dial(client.Options{
		HostPort: temporal.Address(), Identity: "gnomon-recorder", Logger: sdklog.NewStructuredLogger(log),
	})
	require.NoError(t, err)
	t.Cleanup(c.Close)
	path := filepath.Join(t.TempDir(), "rows.db")
	rows, err := sqlite.Open(t.Context(), sqlite.Config{Path: path, Migrate: true})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, rows.Close()) })
	inbox, err := receiver.Start(context.WithoutCancel(t.Context()), receiver.Config{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, inbox.Close()) })
	i := &installation{
		client: c, queue: "record-" + uuid.NewString(), rows: path, store: faulty.New(rows, 1), inbox: inbox, log: log,
		heartbeat: heartbeat,
	}
	i.facade, err = starter.NewActions(starter.Config{
		Client: c, TaskQueue: i.queue, Store: i.store, AllowMockActions: true, ApplyTimeout: applyTimeout, Logger: log,
	})
	require.NoError(t, err)
	return i
}

// work starts a worker.
func (i *installation) work(t *testing.T) {
	t.Helper()
	i.reconciling(t, 0)
}

// reconciling starts a worker that runs the reconciler at an interval, 0 for none, in
// the place of one that works.
func (i *installation) reconciling(t *testing.T, interval time.Duration) {
	t.Helper()
	i.rest()
	perform := performers.Default()
	perform.AllowMock = true
	w, err := worker.New(i.client, worker.Config{
		TaskQueue: i.queue, Store: i.store, Performers: perform, HeartbeatTimeout: i.heartbeat,
		StopGrace: time.Second, Pollers: 2, Logger: i.log, ReconcileInterval: interval,
		Changes: i.batches.Changes, Notices: i.batches.Notices, BatchAttempts: i.batches.BatchAttempts,
		Stages: i.batches.Stages, Publisher: i.batches.Publisher, Entities: i.batches.Entities,
		Clusters: i.batches.Clusters,
	})
	require.NoError(t, err)
	require.NoError(t, w.Start())
	i.working = w
	t.Cleanup(i.rest)
}

// soon is in how long most actions begin, late enough for their first task and for a
// command or two to come before, on a machine as busy as it is when first asked: ten times
// as long as an action takes to sleep and be commanded. A worker must work then.
func (i *installation) soon(t *testing.T) time.Duration {
	t.Helper()
	i.measure.Do(func() {
		begun, probe := time.Now(), "probe-"+i.queue
		i.create(t, i.once(probe, "/ok", far))
		i.happens(t, probe, sleeps, 1)
		i.delete(t, probe)
		i.ahead = min(max(soonest, 10*time.Since(begun)), latest)
		i.closes(t, probe)
		if i.ahead > soonest {
			t.Logf("the machine is slow: soon is in %s", i.ahead)
		}
	})
	return i.ahead
}

// rest stops the worker.
func (i *installation) rest() {
	if i.working != nil {
		i.working.Stop()
		i.working = nil
	}
}

// hurried is the context of a caller who knows that no worker will answer.
func hurried(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Second)
	t.Cleanup(cancel)
	return ctx
}
