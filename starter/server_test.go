package starter

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	reflectionv1 "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// testServer is a running server on free ports, with clients of it.
type testServer struct {
	*Server

	service *fakeService
	client  gnomonv1.ActionServiceClient
	conn    *grpc.ClientConn
	base    string // of REST, such as http://127.0.0.1:1234
	log     *syncBuffer
	ready   atomic.Pointer[error]
	// looked counts the looks at readiness.
	looked atomic.Int64
}

// serve starts a server and stops it when the test ends.
func serve(t *testing.T, change func(*ServerConfig)) *testServer {
	t.Helper()
	return serveServices(t, change, func(own *fakeService) Services { return Services{Actions: own} })
}

// serveServices is serve with services beside the server's own fake.
func serveServices(t *testing.T, change func(*ServerConfig), services func(*fakeService) Services) *testServer {
	t.Helper()
	s := &testServer{service: newFakeService(), log: &syncBuffer{}}
	config := ServerConfig{
		GRPCAddress: "127.0.0.1:0", HTTPAddress: "127.0.0.1:0", ReadyInterval: 10 * time.Millisecond,
		Logger: slog.New(slog.NewTextHandler(s.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
	if change != nil {
		change(&config)
	}
	var err error
	s.Server, err = NewServer(config, services(s.service), func(context.Context) error {
		s.looked.Add(1)
		if broken := s.ready.Load(); broken != nil {
			return *broken
		}
		return nil
	})
	require.NoError(t, err)
	require.NoError(t, s.Start())
	s.base = "http://" + s.HTTPAddr()
	s.conn, err = grpc.NewClient(s.GRPCAddr(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	s.client = gnomonv1.NewActionServiceClient(s.conn)
	t.Cleanup(func() {
		require.NoError(t, s.conn.Close())
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		_ = s.Stop(ctx) // its error is the matter of the tests that stop it themselves
	})
	return s
}

// syncBuffer is a log that may be read while it is written.
type syncBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// issue 2, 2: errors keep code and details over gRPC; those without get them.
func TestErrorsOverGRPC(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	for id, failure := range namedErrors {
		_, err := s.client.GetAction(t.Context(), &gnomonv1.GetActionRequest{Id: id})
		want := complete(failure())
		require.Equal(t, status.Convert(want).Proto().String(), status.Convert(err).Proto().String(), id)
	}
	_, err := s.client.GetAction(t.Context(), &gnomonv1.GetActionRequest{Id: "bare"})
	requireReason(t, err, codes.OutOfRange, "OUT_OF_RANGE")
	_, err = s.client.GetAction(t.Context(), &gnomonv1.GetActionRequest{Id: "unknown"})
	requireReason(t, err, codes.Internal, "INTERNAL")
	require.NotContains(t, err.Error(), "10.0.0.7")
	_, err = s.client.TriggerAction(t.Context(), &gnomonv1.TriggerActionRequest{Id: "a"})
	requireReason(t, err, codes.Unimplemented, "UNIMPLEMENTED")
	require.Contains(t, s.log.String(), "10.0.0.7 said no", "an operator sees the cause")
}

// A panic ends its call and nothing else, and what it says stays where it is.
func TestPanicIsInternal(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	_, err := s.client.GetAction(t.Context(), &gnomonv1.GetActionRequest{Id: "panic"})
	requireReason(t, err, codes.Internal, reasonPanic)
	require.NotContains(t, err.Error(), "secret")
	require.NotContains(t, s.log.String(), "secret")
	require.Contains(t, s.log.String(), "fake_test.go", "the log has the stack")
	_, err = s.client.GetAction(t.Context(), &gnomonv1.GetActionRequest{Id: "fine"})
	require.NoError(t, err)
}

// Calls are logged at debug with method and code, never with what they said.
func TestCallsAreLoggedWithoutPayloads(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	_, err := s.client.CreateAction(t.Context(), &gnomonv1.CreateActionRequest{Action: &gnomonv1.ScheduledAction{
		Meta: &gnomonv1.Meta{Id: "secret-id"},
		Spec: &gnomonv1.Spec{Action: &gnomonv1.Action{Action: &gnomonv1.Action_HttpRequest{HttpRequest: &gnomonv1.HttpRequest{Body: []byte("secret-body")}}}},
	}})
	require.NoError(t, err)
	require.Contains(t, s.log.String(), "level=DEBUG msg=call method=/gnomon.v1.ActionService/CreateAction code=OK duration=")
	require.NotContains(t, s.log.String(), "secret")
}

// A message above the limit is refused before it is read.
func TestHugeMessageOverGRPC(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	_, err := s.client.CreateAction(t.Context(), &gnomonv1.CreateActionRequest{RequestId: strings.Repeat("x", DefaultMaxRequestBytes)})
	require.Equal(t, codes.ResourceExhausted, status.Code(err))
	require.Zero(t, s.service.calls())
	_, err = s.client.CreateAction(t.Context(), &gnomonv1.CreateActionRequest{RequestId: strings.Repeat("x", DefaultMaxRequestBytes-100)})
	require.NoError(t, err)
}

// A call without a deadline gets one; a caller's own stands.
func TestCallsHaveADeadline(t *testing.T) {
	t.Parallel()
	s := serve(t, func(c *ServerConfig) { c.CallTimeout = time.Hour })
	for _, own := range []time.Duration{0, 2 * time.Hour} {
		ctx := t.Context()
		if own > 0 {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, own)
			defer cancel()
		}
		done := make(chan error, 1)
		go func() {
			_, err := s.client.GetAction(ctx, &gnomonv1.GetActionRequest{Id: "wait"})
			done <- err
		}()
		deadline, bounded := (<-s.service.entered).Deadline()
		s.service.release <- struct{}{}
		require.NoError(t, <-done)
		require.True(t, bounded)
		require.Equal(t, own > time.Hour, time.Until(deadline) > time.Hour+time.Minute)
	}
}

// Health follows readiness, for the server and for the service, and is seen by
// watchers.
func TestHealthFollowsReadiness(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	health := healthv1.NewHealthClient(s.conn)
	for _, name := range []string{"", "gnomon.v1.ActionService"} {
		s.ready.Store(nil)
		watch, err := health.Watch(t.Context(), &healthv1.HealthCheckRequest{Service: name})
		require.NoError(t, err)
		await := func(want healthv1.HealthCheckResponse_ServingStatus) {
			for {
				reply, err := watch.Recv()
				require.NoError(t, err)
				if reply.GetStatus() == want {
					return
				}
			}
		}
		await(healthv1.HealthCheckResponse_SERVING)
		broken := errors.New("Temporal is away")
		s.ready.Store(&broken)
		await(healthv1.HealthCheckResponse_NOT_SERVING)
		require.Equal(t, 503, s.get(t, "/readyz").code)
		require.Equal(t, 200, s.get(t, "/healthz").code, "it lives even if it is not ready")
		s.ready.Store(nil)
		await(healthv1.HealthCheckResponse_SERVING)
		require.Equal(t, 200, s.get(t, "/readyz").code)
	}
	require.Contains(t, s.log.String(), `level=WARN msg="the facade is not ready" cause="Temporal is away"`)
}

// grpcurl and the like find the service and its comments' file by reflection.
func TestReflection(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	stream, err := reflectionv1.NewServerReflectionClient(s.conn).ServerReflectionInfo(t.Context())
	require.NoError(t, err)
	require.NoError(t, stream.Send(&reflectionv1.ServerReflectionRequest{MessageRequest: &reflectionv1.ServerReflectionRequest_ListServices{}}))
	reply, err := stream.Recv()
	require.NoError(t, err)
	var names []string
	for _, service := range reply.GetListServicesResponse().GetService() {
		names = append(names, service.GetName())
	}
	require.Contains(t, names, "gnomon.v1.ActionService")
	require.Contains(t, names, "grpc.health.v1.Health")
	require.NoError(t, stream.Send(&reflectionv1.ServerReflectionRequest{
		MessageRequest: &reflectionv1.ServerReflectionRequest_FileContainingSymbol{FileContainingSymbol: "gnomon.v1.ActionService"},
	}))
	reply, err = stream.Recv()
	require.NoError(t, err)
	var file descriptorpb.FileDescriptorProto
	require.NoError(t, proto.Unmarshal(reply.GetFileDescriptorResponse().GetFileDescriptorProto()[0], &file))
	require.Equal(t, "gnomon/v1/action_service.proto", file.GetName())
	require.NoError(t, stream.CloseSend())
	_, err = stream.Recv()
	require.Error(t, err)
}

// Stop waits for the call under way, and does not wait for watchers.
func TestStopIsGraceful(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	watch, err := s.client.WatchAction(t.Context(), &gnomonv1.WatchActionRequest{Id: "a"})
	require.NoError(t, err)
	s.service.changes <- &gnomonv1.ScheduledAction{Meta: &gnomonv1.Meta{Id: "a"}}
	_, err = watch.Recv()
	require.NoError(t, err)
	answered := make(chan error, 1)
	go func() {
		_, err := s.client.GetAction(t.Context(), &gnomonv1.GetActionRequest{Id: "wait"})
		answered <- err
	}()
	<-s.service.entered
	stopped := make(chan error, 1)
	go func() { stopped <- s.Stop(t.Context()) }()
	_, err = watch.Recv()
	requireReason(t, err, codes.Unavailable, reasonStopping)
	require.False(t, s.isReady(), "a server that stops must not get new calls")
	select {
	case err := <-stopped:
		require.Fail(t, "stopped before its call was answered", "%v", err)
	default:
	}
	close(s.service.release)
	require.NoError(t, <-answered)
	require.NoError(t, <-stopped)
	_, err = net.DialTimeout("tcp", s.GRPCAddr(), time.Second)
	require.Error(t, err)
}

// A call that does not end cannot hold up Stop beyond its context.
func TestStopEndsWithItsContext(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	go func() { _, _ = s.client.GetAction(context.Background(), &gnomonv1.GetActionRequest{Id: "wait"}) }()
	inside := <-s.service.entered
	go func() {
		<-inside.Done() // breaking off the connection cancels the call
		close(s.service.release)
	}()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, s.Stop(ctx), context.Canceled)
}

func TestServerConfig(t *testing.T) {
	t.Parallel()
	_, err := NewServer(ServerConfig{MaxRequestBytes: 1, CallTimeout: -1, ReadyInterval: -1}, Services{Actions: newFakeService()}, nil)
	for _, field := range []string{"GRPCAddress", "MaxRequestBytes", "CallTimeout", "ReadyInterval"} {
		require.ErrorContains(t, err, field)
	}
	taken := serve(t, nil)
	second, err := NewServer(ServerConfig{GRPCAddress: "127.0.0.1:0", HTTPAddress: taken.HTTPAddr()}, Services{Actions: newFakeService()}, nil)
	require.NoError(t, err)
	require.ErrorContains(t, second.Start(), "listen for HTTP")
	require.Empty(t, second.HTTPAddr())
	bare, err := NewServer(ServerConfig{GRPCAddress: "127.0.0.1:0"}, Services{Actions: newFakeService()}, nil)
	require.NoError(t, err)
	require.NoError(t, bare.Start())
	require.Empty(t, bare.HTTPAddr())
	require.NoError(t, bare.Stop(t.Context()))
}
