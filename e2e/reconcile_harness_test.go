package e2e

import (
	"context"
	"database/sql"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"
	"google.golang.org/protobuf/proto"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/receiver"
	"gnomon/reconcile"
	"gnomon/starter"
	"gnomon/store"
	"gnomon/store/faulty"
	"gnomon/store/sqlite"
	"gnomon/store/ydb"
	"gnomon/store/ydb/ydbdouble"
)

// reconciled is an installation whose rows can be changed by hand.
type reconciled struct {
	*installation
	hand

	// name is the store's, as commands are told.
	name string
}

// onBothStores runs a test with the rows in a file and with the rows in YDB's double.
func onBothStores(t *testing.T, test func(t *testing.T, r *reconciled)) {
	t.Helper()
	for name, install := range map[string]func(*testing.T) *reconciled{"sqlite": installReconciled, "ydb": installReconciledYDB} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, install(t))
		})
	}
}

// installReconciled has the rows in a file.
func installReconciled(t *testing.T) *reconciled {
	t.Helper()
	file := filepath.Join(t.TempDir(), "gnomon.db")
	rows, err := sqlite.Open(t.Context(), sqlite.Config{Path: file, Migrate: true, RelaxedSync: true})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, rows.Close()) })
	db, err := sql.Open("sqlite", "file:"+file+"?_pragma=busy_timeout(5000)")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return installReconciledOn(t, "sqlite:"+file, rows, sqliteHand{db})
}

// installReconciledYDB has the rows in YDB's double.
func installReconciledYDB(t *testing.T) *reconciled {
	t.Helper()
	server, err := ydbdouble.Start(t.Context(), ydbdouble.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Stop()) })
	name := server.ConnectionString("gnomon")
	c := ydb.Config{ConnectionString: name}
	require.NoError(t, ydb.Migrate(t.Context(), c))
	rows, err := ydb.Open(t.Context(), c)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, rows.Close()) })
	return installReconciledOn(t, name, rows, newYDBHand(t, name))
}

func installReconciledOn(t *testing.T, name string, rows store.Store, by hand) *reconciled {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	c, err := client.Dial(client.Options{HostPort: temporal.Address(), Logger: sdklog.NewStructuredLogger(log)})
	require.NoError(t, err)
	t.Cleanup(c.Close)
	inbox, err := receiver.Start(context.WithoutCancel(t.Context()), receiver.Config{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, inbox.Close()) })
	i := &installation{
		client: c, queue: "reconcile-" + uuid.NewString(), store: faulty.New(rows, 1), inbox: inbox, log: log,
		prefix: "r-" + uuid.NewString()[:8] + "-",
	}
	i.facade, err = starter.NewActions(starter.Config{
		Client: c, TaskQueue: i.queue, Store: i.store, AllowMockActions: true, Logger: log,
	})
	require.NoError(t, err)
	i.work(t)
	return &reconciled{installation: i, hand: by, name: name}
}

// config reconciles this installation, without a grace as tests create what they break.
func (r *reconciled) config() reconcile.Config {
	return reconcile.Config{
		Client: r.client, Store: r.store, TaskQueue: r.queue,
		Grace: time.Nanosecond, Settle: time.Second, Rate: 1000, Page: 7,
	}
}

// round makes one round.
func (r *reconciled) round(t *testing.T) reconcile.Report {
	t.Helper()
	report, err := reconcile.Run(t.Context(), r.config(), reconcile.Cursor{})
	require.NoError(t, err)
	return report
}

// dry makes a round that repairs nothing.
func (r *reconciled) dry(t *testing.T) reconcile.Report {
	t.Helper()
	c := r.config()
	c.DryRun = true
	report, err := reconcile.Run(t.Context(), c, reconcile.Cursor{})
	require.NoError(t, err)
	return report
}

// sleeps creates an action that waits, and waits until its workflow does.
func (r *reconciled) sleeps(t *testing.T, name string) *gnomonv1.ScheduledAction {
	t.Helper()
	a := r.create(t, r.once(r.id(name), "/ok", time.Hour))
	r.asleep(t, r.id(name))
	return a
}

// asleep waits until visibility lists the workflow of an id as open and it has started
// its timer.
func (r *reconciled) asleep(t *testing.T, id string) {
	t.Helper()
	eventually(t, 20*time.Second, "it sleeps", func() bool { return len(r.events(t, id)) >= 5 })
	r.listed(t, id)
}

// stored waits until the workflow of an id has stored its own rows, which comes after the
// facade's of a command and would mend what a hand spoiled before.
func (r *reconciled) stored(t *testing.T, id string) {
	t.Helper()
	eventually(t, 20*time.Second, "the workflow has stored its row", func() bool {
		begun, done := 0, 0
		for _, e := range r.events(t, id) {
			switch e.GetEventType() {
			case enumspb.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED:
				begun++
			case enumspb.EVENT_TYPE_ACTIVITY_TASK_COMPLETED:
				done++
			}
		}
		return begun > 0 && done == begun
	})
}

// listed waits until visibility, which is eventual, lists the open workflow of an id.
func (r *reconciled) listed(t *testing.T, id string) {
	t.Helper()
	eventually(t, 20*time.Second, "visibility lists it", func() bool { return r.open(t)[id] })
}

// row is what stands for an id, nil for nothing.
func (r *reconciled) row(t *testing.T, id string) *store.Row {
	t.Helper()
	row, err := r.store.GetAction(t.Context(), id)
	if err != nil {
		require.ErrorIs(t, err, store.ErrNotFound)
		return nil
	}
	return &row
}

// shows says that the row of an id is what its workflow answers.
func (r *reconciled) shows(t *testing.T, id string) {
	t.Helper()
	answer, err := r.client.QueryWorkflow(t.Context(), workflowv1.WorkflowID(id), "", workflowv1.QueryAction)
	require.NoError(t, err)
	want := &workflowv1.CommandResult{}
	require.NoError(t, answer.Get(want))
	row := r.row(t, id)
	require.NotNil(t, row)
	require.True(t, proto.Equal(want.GetAction(), row.Action), "%v\n%v", want.GetAction(), row.Action)
	require.Equal(t, want.GetChain(), row.Chain)
	require.Equal(t, want.GetTombstone(), row.Tombstone)
}
