package record

import (
	"context"
	"log/slog"
	"path/filepath"
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

// heartbeat is after how long a lost worker is noticed. Less would find workers lost
// that are only slow, on a machine that is busy with other tests.
const heartbeat = 6 * time.Second

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
	// batches is what a worker of batches has beside.
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
	}
	i.facade, err = starter.NewActions(starter.Config{
		Client: c, TaskQueue: i.queue, Store: i.store, AllowMockActions: true, ApplyTimeout: 20 * time.Second, Logger: log,
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
		TaskQueue: i.queue, Store: i.store, Performers: perform, HeartbeatTimeout: heartbeat,
		StopGrace: time.Second, Pollers: 2, Logger: i.log, ReconcileInterval: interval,
		Changes: i.batches.Changes, Notices: i.batches.Notices, BatchAttempts: i.batches.BatchAttempts,
	})
	require.NoError(t, err)
	require.NoError(t, w.Start())
	i.working = w
	t.Cleanup(i.rest)
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
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
	t.Cleanup(cancel)
	return ctx
}
