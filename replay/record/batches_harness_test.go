package record

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/batch"
	"gnomon/changes/kinds"
	"gnomon/notices/channels"
	"gnomon/receiver"
	"gnomon/starter"
	"gnomon/worker"
)

const (
	ends = enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED
	// applyLimit is how long a change may take, the most there is; lostApplyLimit is that
	// of those whose worker is killed, and so how long the worker waits that follows.
	applyLimit     = time.Minute
	lostApplyLimit = 30 * time.Second
)

// bureau is an installation of batches.
type bureau struct {
	*installation

	calls *starter.Batches
	judge *judge
	// applyLimit is how long a change may take.
	applyLimit time.Duration
}

// judge says whether batches are valid, and is told by the webhook.
type judge struct {
	*httptest.Server

	mu      sync.Mutex
	invalid map[string]bool
	deaf    bool
}

func (j *judge) validate(w http.ResponseWriter, r *http.Request) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.invalid[r.PathValue("id")] {
		fmt.Fprint(w, `{"hard": ["it has changed"]}`)
		return
	}
	fmt.Fprint(w, `{"hard": []}`)
}

func (j *judge) hook(w http.ResponseWriter, _ *http.Request) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.deaf {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
}

// says makes batches invalid or valid again.
func (j *judge) says(invalid bool, ids ...string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, id := range ids {
		j.invalid[id] = invalid
	}
}

// hears has notices arrive or not.
func (j *judge) hears(yes bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.deaf = !yes
}

// openIdle brings one up without a worker.
func openIdle(t *testing.T, attempts int32) *bureau {
	t.Helper()
	b := &bureau{installation: installIdle(t), judge: &judge{invalid: map[string]bool{}}, applyLimit: applyLimit}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /validate/{id}", b.judge.validate)
	mux.HandleFunc("POST /hook", b.judge.hook)
	b.judge.Server = httptest.NewServer(mux)
	t.Cleanup(b.judge.Close)
	set, err := kinds.New(kinds.Config{})
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "channels.yaml")
	require.NoError(t, os.WriteFile(file, fmt.Appendf(nil,
		"channels:\n  - name: on-call\n    webhook: {url: %q}\n    events: [BatchCancelled]\n", b.judge.URL+"/hook"), 0o600))
	people, err := channels.Load(file, b.log)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, people.Close()) })
	b.batches = worker.Config{Changes: set, Notices: people.Set, BatchAttempts: attempts}
	b.calls, err = starter.NewBatches(starter.Config{
		Client: b.client, TaskQueue: b.queue, Store: b.store, Changes: set, ApplyTimeout: applyTimeout, Logger: b.log,
	})
	require.NoError(t, err)
	return b
}

// open brings one up.
func open(t *testing.T, attempts int32) *bureau {
	t.Helper()
	b := openIdle(t, attempts)
	b.work(t)
	return b
}

// submit submits a batch whose changes are told to the receiver's paths.
func (b *bureau) submit(t *testing.T, id string, in time.Duration, paths ...string) *gnomonv1.Batch {
	t.Helper()
	wanted := &gnomonv1.Batch{Id: id, ScheduledAt: timestamppb.New(time.Now().Add(in)), Labels: map[string]string{"team": "recorder"}}
	for _, p := range paths {
		wanted.Changes = append(wanted.Changes, &gnomonv1.Change{Change: &gnomonv1.Change_HttpChange{HttpChange: &gnomonv1.HttpChange{
			ValidateUrl: b.judge.URL + "/validate/" + id, ApplyUrl: b.inbox.URL(p), Timeout: durationpb.New(b.applyLimit),
		}}})
	}
	created, err := b.calls.CreateBatch(t.Context(), &gnomonv1.CreateBatchRequest{Batch: wanted})
	require.NoError(t, err, id)
	return created
}

// review decides about batches.
func (b *bureau) review(t *testing.T, decision gnomonv1.ReviewBatchRequest_Decision, ids ...string) {
	t.Helper()
	for _, id := range ids {
		req := &gnomonv1.ReviewBatchRequest{Id: id, Decision: decision}
		if decision == gnomonv1.ReviewBatchRequest_RESCHEDULE {
			req.ScheduledAt = timestamppb.New(time.Now().Add(far))
		}
		reply, err := b.calls.ReviewBatch(t.Context(), req)
		require.NoError(t, err, id)
		for _, c := range reply.GetStatus().GetConditions() {
			require.NotEqual(t, batch.ConditionApplied, c.GetType(), "%s: it was left as a signal", id)
		}
	}
}

// comes waits until the workflow is in a state, with nothing left to decide.
func (b *bureau) comes(t *testing.T, id string, want gnomonv1.BatchStatus_State, round uint32) {
	t.Helper()
	require.Eventually(t, func() bool {
		h := &workflowv1.BatchHead{}
		b.ask(t, workflowv1.BatchWorkflowID(id), workflowv1.QueryBatch, h)
		return h.GetStatus().GetState() == want && h.GetStatus().GetRound() == round
	}, within, 20*time.Millisecond, id)
	b.settles(t, id)
}

// rests waits until a batch has no activity under way.
func (b *bureau) rests(t *testing.T, id string) {
	t.Helper()
	b.wakes(t, id)
	require.Eventually(t, func() bool {
		seen := b.describe(t, id)
		return len(seen.GetPendingActivities()) == 0 && seen.GetPendingWorkflowTask() == nil
	}, within, 20*time.Millisecond, id)
}

// pends waits until the server holds back a failed attempt of an activity.
func (b *bureau) pends(t *testing.T, id, activity string) {
	t.Helper()
	require.Eventually(t, func() bool {
		for _, p := range b.describe(t, id).GetPendingActivities() {
			if p.GetActivityType().GetName() == activity && p.GetAttempt() > 1 {
				return true
			}
		}
		return false
	}, within, 20*time.Millisecond, id)
	b.settles(t, id)
}

// reaches waits until a path of the receiver was called.
func (b *bureau) reaches(t *testing.T, path string) {
	t.Helper()
	_, err := b.inbox.Wait(limited(t), func(a receiver.Arrival) bool { return a.Path == path })
	require.NoError(t, err, path)
}

// releases releases what the receiver holds until a batch is through: an attempt may be
// made again.
func (b *bureau) releases(t *testing.T, id string) {
	t.Helper()
	require.Eventually(t, func() bool {
		b.inbox.Release()
		for _, p := range b.describe(t, id).GetPendingActivities() {
			if p.GetActivityType().GetName() == workflowv1.ProcessBatchActivity {
				return false
			}
		}
		return true
	}, within, 50*time.Millisecond, id)
}

// signal sends a command as a person would.
func (b *bureau) signal(t *testing.T, id, name string, payload any) {
	t.Helper()
	require.NoError(t, b.client.SignalWorkflow(t.Context(), workflowv1.BatchWorkflowID(id), "", name, payload))
}

// cancel is Temporal's own.
func (b *bureau) cancel(t *testing.T, id string) {
	t.Helper()
	require.NoError(t, b.client.CancelWorkflow(t.Context(), workflowv1.BatchWorkflowID(id), ""))
}

// closed records batches once they have ended.
func (b *bureau) closed(t *testing.T, ids ...string) {
	t.Helper()
	for _, id := range ids {
		b.happens(t, id, ends, 1)
		made.save(t, b.installation, id)
	}
}
