package worker_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"testing"

	"github.com/stretchr/testify/require"
	querypb "go.temporal.io/api/query/v1"
	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"gnomon/worker"
)

// tasks is a Temporal that gives out these workflow tasks, one after another, and notes
// which answers tie their workflow to the worker.
type tasks struct {
	workflowservice.UnimplementedWorkflowServiceServer

	next []*workflowservice.PollWorkflowTaskQueueResponse
	// then goes with the reply to the next completion.
	then *workflowservice.PollWorkflowTaskQueueResponse
	fail error
	tied map[string]bool
}

func (s *tasks) PollWorkflowTaskQueue(context.Context, *workflowservice.PollWorkflowTaskQueueRequest) (*workflowservice.PollWorkflowTaskQueueResponse, error) {
	task := s.next[0]
	s.next = s.next[1:]
	return task, nil
}

func (s *tasks) RespondWorkflowTaskCompleted(_ context.Context, r *workflowservice.RespondWorkflowTaskCompletedRequest) (*workflowservice.RespondWorkflowTaskCompletedResponse, error) {
	s.tied[string(r.GetTaskToken())] = r.GetStickyAttributes() != nil
	return &workflowservice.RespondWorkflowTaskCompletedResponse{WorkflowTask: s.then}, s.fail
}

func (s *tasks) RespondWorkflowTaskFailed(context.Context, *workflowservice.RespondWorkflowTaskFailedRequest) (*workflowservice.RespondWorkflowTaskFailedResponse, error) {
	return &workflowservice.RespondWorkflowTaskFailedResponse{}, nil
}

// serve starts it and gives a worker's connection.
func (s *tasks) serve(t *testing.T) workflowservice.WorkflowServiceClient {
	t.Helper()
	s.tied = map[string]bool{}
	server := grpc.NewServer()
	workflowservice.RegisterWorkflowServiceServer(server, s)
	at, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	go func() { _ = server.Serve(at) }()
	t.Cleanup(server.Stop)
	o := worker.Connection(client.ConnectionOptions{})
	require.IsType(t, &client.GrpcCompressionNone{}, o.GrpcCompression)
	conn, err := grpc.NewClient(at.Addr().String(), append(o.DialOptions, grpc.WithTransportCredentials(insecure.NewCredentials()))...)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, conn.Close()) })
	return workflowservice.NewWorkflowServiceClient(conn)
}

func task(token string, events int64) *workflowservice.PollWorkflowTaskQueueResponse {
	return &workflowservice.PollWorkflowTaskQueueResponse{TaskToken: []byte(token), StartedEventId: events}
}

func complete(t *testing.T, c workflowservice.WorkflowServiceClient, token string) error {
	t.Helper()
	_, err := c.RespondWorkflowTaskCompleted(t.Context(), &workflowservice.RespondWorkflowTaskCompletedRequest{
		TaskToken: []byte(token), StickyAttributes: &taskqueuepb.StickyExecutionAttributes{WorkerTaskQueue: &taskqueuepb.TaskQueue{Name: "mine"}},
	})
	return err
}

func poll(t *testing.T, c workflowservice.WorkflowServiceClient) {
	t.Helper()
	_, err := c.PollWorkflowTaskQueue(t.Context(), &workflowservice.PollWorkflowTaskQueueRequest{})
	require.NoError(t, err)
}

// Issue 8: only workflows of long histories are tied to the worker that has them in its
// cache; the next task of another may go to any.
func TestShortHistoriesAreTiedToNobody(t *testing.T) {
	t.Parallel()
	s := &tasks{next: []*workflowservice.PollWorkflowTaskQueueResponse{
		task("short", 50), task("long", 51), {TaskToken: []byte("asked"), StartedEventId: 51, Query: &querypb.WorkflowQuery{}}, task("failed", 99), {},
	}}
	c := s.serve(t)
	for range 5 {
		poll(t, c)
	}
	_, err := c.RespondWorkflowTaskFailed(t.Context(), &workflowservice.RespondWorkflowTaskFailedRequest{TaskToken: []byte("failed")})
	require.NoError(t, err)
	for _, token := range []string{"short", "long", "asked", "failed", "unknown"} {
		require.NoError(t, complete(t, c, token))
	}
	require.Equal(t, map[string]bool{"short": false, "long": true, "asked": false, "failed": false, "unknown": false}, s.tied)
	require.NoError(t, complete(t, c, "long"))
	require.False(t, s.tied["long"], "it is not remembered for ever")
}

// A completion whose answer was lost is sent again by the SDK, and the task that comes
// with an answer counts as one that was polled.
func TestTiedAgain(t *testing.T) {
	t.Parallel()
	s := &tasks{next: []*workflowservice.PollWorkflowTaskQueueResponse{task("long", 51)}, fail: errors.New("lost"), then: task("next", 60)}
	c := s.serve(t)
	poll(t, c)
	require.Error(t, complete(t, c, "long"))
	s.fail = nil
	require.NoError(t, complete(t, c, "long"))
	require.NoError(t, complete(t, c, "next"))
	require.Equal(t, map[string]bool{"long": true, "next": true}, s.tied)
}

// What is remembered is bounded, though tasks were taken that nobody answered.
func TestTasksThatNobodyAnswers(t *testing.T) {
	t.Parallel()
	s := &tasks{}
	c := s.serve(t)
	for i := range 10_001 {
		s.next = append(s.next, task(fmt.Sprint(i), 51))
		poll(t, c)
	}
	require.NoError(t, complete(t, c, "0"))
	require.NoError(t, complete(t, c, "10000"))
	require.Equal(t, map[string]bool{"0": false, "10000": true}, s.tied)
}
