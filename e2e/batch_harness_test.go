package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	sdkpb "go.temporal.io/api/sdk/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/batch"
	changekinds "gnomon/changes/kinds"
	"gnomon/notices/channels"
	"gnomon/starter"
	"gnomon/worker"
)

// bureau is an installation of batches: a facade that serves gRPC and REST, workers, and
// the other side, which is also told by a webhook.
type bureau struct {
	*installation

	calls gnomonv1.BatchServiceClient
	base  string // of REST
	other *otherSide
	// config is what its workers have.
	config  worker.Config
	workers []*worker.Worker
}

// everyOutcome are the events that channels may ask for.
const everyOutcome = "[BatchComplete, BatchPartialFailure, BatchFailed, BatchCancelled]"

// openBureau brings one up with one worker. Change may alter the worker's configuration.
func openBureau(t *testing.T, change func(*worker.Config)) *bureau {
	t.Helper()
	b := &bureau{installation: installIdle(t), other: serveOtherSide(t)}
	set, err := changekinds.New(changekinds.Config{})
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "channels.yaml")
	require.NoError(t, os.WriteFile(file, fmt.Appendf(nil, "channels:\n  - name: on-call\n    webhook: {url: %q}\n    events: %s\n", b.other.URL+"/hook", everyOutcome), 0o600))
	people, err := channels.Load(file, b.log)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, people.Close()) })
	b.config = worker.Config{
		TaskQueue: b.queue, Store: b.store, Changes: set, Notices: people.Set, HeartbeatTimeout: 2 * time.Second,
		StopGrace: time.Second, Pollers: 4, Logger: b.log,
	}
	if change != nil {
		change(&b.config)
	}
	facade, err := starter.NewBatches(starter.Config{Client: b.client, TaskQueue: b.queue, Store: b.store, Changes: set, Logger: b.log})
	require.NoError(t, err)
	server, err := starter.NewServer(starter.ServerConfig{GRPCAddress: "127.0.0.1:0", HTTPAddress: "127.0.0.1:0", Logger: b.log},
		starter.Services{Actions: b.facade, Batches: facade}, nil)
	require.NoError(t, err)
	require.NoError(t, server.Start())
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		require.NoError(t, server.Stop(ctx))
	})
	conn, err := grpc.NewClient(server.GRPCAddr(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, conn.Close()) })
	b.calls, b.base = gnomonv1.NewBatchServiceClient(conn), "http://"+server.HTTPAddr()
	b.employ(t)
	return b
}

// employ starts a worker.
func (b *bureau) employ(t *testing.T) {
	t.Helper()
	w, err := worker.New(b.client, b.config)
	require.NoError(t, err)
	require.NoError(t, w.Start())
	b.workers = append(b.workers, w)
	t.Cleanup(w.Stop)
}

// of is a batch of n changes at the other side, which are validated there.
func (b *bureau) of(id string, n int, in time.Duration) *gnomonv1.Batch {
	wanted := &gnomonv1.Batch{Id: id, ScheduledAt: timestamppb.New(time.Now().Add(in))}
	for i := range n {
		wanted.Changes = append(wanted.Changes, &gnomonv1.Change{Change: &gnomonv1.Change_HttpChange{HttpChange: &gnomonv1.HttpChange{
			ValidateUrl: b.other.URL + "/validate/" + place(id, i), ApplyUrl: b.other.URL + "/apply/" + place(id, i),
			Timeout: durationpb.New(time.Minute),
		}}})
	}
	return wanted
}

// submit creates a batch.
func (b *bureau) submit(t *testing.T, wanted *gnomonv1.Batch) *gnomonv1.Batch {
	t.Helper()
	created, err := b.calls.CreateBatch(t.Context(), &gnomonv1.CreateBatchRequest{Batch: wanted})
	require.NoError(t, err)
	require.Equal(t, gnomonv1.BatchStatus_PENDING, created.GetStatus().GetState())
	return created
}

// get is a batch as anyone reads it.
func (b *bureau) get(t *testing.T, id string) *gnomonv1.Batch {
	t.Helper()
	found, err := b.calls.GetBatch(t.Context(), &gnomonv1.GetBatchRequest{Id: id})
	require.NoError(t, err)
	return found
}

// comes waits until a batch is seen in a state.
func (b *bureau) comes(t *testing.T, id string, state gnomonv1.BatchStatus_State) *gnomonv1.Batch {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), startWithin)
	defer cancel()
	stream, err := b.calls.WatchBatch(ctx, &gnomonv1.WatchBatchRequest{Id: id})
	require.NoError(t, err)
	for {
		seen, err := stream.Recv()
		require.NoError(t, err, "%s before %s", id, state)
		if seen.GetBatch().GetStatus().GetState() == state {
			return seen.GetBatch()
		}
	}
}

// ends waits for the workflow of a batch to end, and says how. It looks, since Temporal's
// long poll tells of one end in some dozens only when its 20 seconds are over.
func (b *bureau) ends(t *testing.T, id string) *gnomonv1.BatchStatus {
	t.Helper()
	eventually(t, startWithin, id+" ends", func() bool {
		seen, err := b.client.DescribeWorkflowExecution(t.Context(), workflowv1.BatchWorkflowID(id), "")
		require.NoError(t, err)
		return seen.GetWorkflowExecutionInfo().GetStatus() != enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING
	})
	st := &gnomonv1.BatchStatus{}
	require.NoError(t, b.client.GetWorkflow(t.Context(), workflowv1.BatchWorkflowID(id), "").Get(t.Context(), st))
	require.True(t, batch.Ended(st.GetState()))
	return st
}

// settles waits until the workflow of a batch has decided upon all it knows.
func (b *bureau) settles(t *testing.T, id string) {
	t.Helper()
	eventually(t, startWithin, id+" has nothing to decide", func() bool {
		seen, err := b.client.DescribeWorkflowExecution(t.Context(), workflowv1.BatchWorkflowID(id), "")
		require.NoError(t, err)
		return seen.GetPendingWorkflowTask() == nil
	})
}

// shows says whether the current details hold a text. A worker that has no time to answer
// shows none.
func (b *bureau) shows(t *testing.T, id, text string) bool {
	t.Helper()
	answer, err := b.client.QueryWorkflow(t.Context(), workflowv1.BatchWorkflowID(id), "", "__temporal_workflow_metadata")
	if err != nil {
		return false
	}
	metadata := &sdkpb.WorkflowMetadata{}
	require.NoError(t, answer.Get(metadata))
	return strings.Contains(metadata.GetCurrentDetails(), text)
}

// changeStates are those of a batch's changes.
func changeStates(b *gnomonv1.Batch) []gnomonv1.ChangeStatus_State {
	var all []gnomonv1.ChangeStatus_State
	for _, c := range b.GetChanges() {
		all = append(all, c.GetStatus().GetState())
	}
	return all
}
