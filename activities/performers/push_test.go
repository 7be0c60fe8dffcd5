package performers_test

import (
	"context"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	notificatorv1 "gnomon/api/gnomon/notificator/v1"
	gnomonv1 "gnomon/api/gnomon/v1"

	"gnomon/activities/performers"
)

// notificator answers calls by a function.
type notificator struct {
	notificatorv1.UnimplementedNotificatorServer

	send func(context.Context, *notificatorv1.SendTechnicalPushRequest) (string, error)
}

func (n notificator) SendTechnicalPush(ctx context.Context, r *notificatorv1.SendTechnicalPushRequest) (*notificatorv1.SendTechnicalPushResponse, error) {
	id, err := n.send(ctx, r)
	return &notificatorv1.SendTechnicalPushResponse{PushId: id}, err
}

// serveNotificator serves at an address, of which port 0 is any free one.
func serveNotificator(t *testing.T, address string, send func(context.Context, *notificatorv1.SendTechnicalPushRequest) (string, error), opts ...grpc.ServerOption) (string, *grpc.Server) {
	t.Helper()
	l, err := net.Listen("tcp", address)
	require.NoError(t, err)
	s := grpc.NewServer(opts...)
	notificatorv1.RegisterNotificatorServer(s, notificator{send: send})
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = s.Serve(l)
	}()
	t.Cleanup(func() {
		s.Stop()
		<-done
	})
	return l.Addr().String(), s
}

func pushAction(timeout time.Duration) *gnomonv1.Action {
	return &gnomonv1.Action{Action: &gnomonv1.Action_SendTechnicalPush{SendTechnicalPush: &gnomonv1.SendTechnicalPush{
		Recipient: "device-7", Type: "refresh", Payload: []byte("\x00\xffsecret"), Timeout: durationpb.New(timeout),
	}}}
}

func newPush(t *testing.T, c performers.NotificatorConfig) performers.Performer {
	t.Helper()
	return performerOf(t, newSet(t, performers.Config{Notificator: c}), pushAction(0))
}

// M-04: the push as the contract has it, with the idempotency key in the message and
// in the metadata, and the service's id as the reply.
func TestPushCallsTheNotificator(t *testing.T) {
	t.Parallel()
	const key = "order:42/5f0c2d1e-guid/2026-11-21T10:00:00.00000012Z"
	requests := make(chan *notificatorv1.SendTechnicalPushRequest, 1)
	metas := make(chan metadata.MD, 1)
	address, _ := serveNotificator(t, "127.0.0.1:0", func(ctx context.Context, r *notificatorv1.SendTechnicalPushRequest) (string, error) {
		md, _ := metadata.FromIncomingContext(ctx)
		requests <- r
		metas <- md
		return "push-1", nil
	})
	reply, err := newPush(t, performers.NotificatorConfig{Address: address}).Perform(t.Context(), request(pushAction(0)))
	require.NoError(t, err)
	require.Equal(t, "push-1", reply.Text)
	want := &notificatorv1.SendTechnicalPushRequest{
		Recipient: "device-7", Type: "refresh", Payload: []byte("\x00\xffsecret"), IdempotencyKey: key,
	}
	got := <-requests
	require.True(t, proto.Equal(want, got), got)
	md := <-metas
	require.Equal(t, []string{key}, md.Get("idempotency-key"))
	require.Regexp(t, "^gnomon ", md.Get("user-agent")[0])
}

// M-04: an installation without a Notificator says what to set, and does not retry.
func TestPushWithoutANotificator(t *testing.T) {
	t.Parallel()
	_, err := newPush(t, performers.NotificatorConfig{}).Perform(t.Context(), request(pushAction(0)))
	require.EqualError(t, err, "this worker knows no Notificator: set its address (Notificator.Address, --notificator-address)")
	require.True(t, performers.IsPermanent(err))
}

// notificator.proto: any error is a failed attempt; the service's own words are the
// reply, since they may quote the payload.
func TestPushErrorsAreFailures(t *testing.T) {
	t.Parallel()
	for _, code := range []codes.Code{
		codes.Canceled, codes.Unknown, codes.InvalidArgument, codes.DeadlineExceeded, codes.NotFound,
		codes.PermissionDenied, codes.ResourceExhausted, codes.Internal, codes.Unavailable, codes.Unauthenticated,
	} {
		t.Run(code.String(), func(t *testing.T) {
			t.Parallel()
			address, _ := serveNotificator(t, "127.0.0.1:0", func(context.Context, *notificatorv1.SendTechnicalPushRequest) (string, error) {
				return "", status.Error(code, "secret is no push")
			})
			reply, err := newPush(t, performers.NotificatorConfig{Address: address}).Perform(t.Context(), request(pushAction(0)))
			require.EqualError(t, err, "the Notificator answered "+code.String())
			require.Equal(t, "secret is no push", reply.Text)
			require.False(t, performers.IsPermanent(err))
			require.NotErrorIs(t, err, context.Canceled)
			require.NotErrorIs(t, err, context.DeadlineExceeded)
		})
	}
}

// SendTechnicalPush.timeout, M-37: the call's own limit makes a failed attempt.
func TestPushTimeLimitIsAFailure(t *testing.T) {
	t.Parallel()
	address, _ := serveNotificator(t, "127.0.0.1:0", func(ctx context.Context, _ *notificatorv1.SendTechnicalPushRequest) (string, error) {
		<-ctx.Done()
		return "", ctx.Err()
	})
	_, err := newPush(t, performers.NotificatorConfig{Address: address}).Perform(t.Context(), request(pushAction(200*time.Millisecond)))
	require.Error(t, err)
	require.NotErrorIs(t, err, context.DeadlineExceeded)
	require.False(t, performers.IsPermanent(err))
	require.Contains(t, []string{
		"the call to the Notificator did not end within its time limit of 200ms",
		"the Notificator answered DeadlineExceeded", // the server's clock was first
	}, err.Error())
}

// M-38: where the attempt's own deadline comes first, the attempt was stopped.
func TestPushStopsAtTheAttemptsDeadline(t *testing.T) {
	t.Parallel()
	hold := make(chan struct{})
	address, _ := serveNotificator(t, "127.0.0.1:0", func(context.Context, *notificatorv1.SendTechnicalPushRequest) (string, error) {
		<-hold
		return "", nil
	})
	t.Cleanup(func() { close(hold) })
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err := newPush(t, performers.NotificatorConfig{Address: address}).Perform(ctx, request(pushAction(time.Minute)))
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.EqualError(t, err, "the call to the Notificator was stopped: context deadline exceeded")
}

// M-38: an attempt that is stopped ends soon, with its context's error, and the
// service is told.
func TestPushStopsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	told := make(chan struct{})
	address, _ := serveNotificator(t, "127.0.0.1:0", func(ctx context.Context, _ *notificatorv1.SendTechnicalPushRequest) (string, error) {
		cancel()
		<-ctx.Done()
		close(told)
		return "", ctx.Err()
	})
	_, err := newPush(t, performers.NotificatorConfig{Address: address}).Perform(ctx, request(pushAction(time.Minute)))
	require.ErrorIs(t, err, context.Canceled)
	require.EqualError(t, err, "the call to the Notificator was stopped: context canceled")
	<-told
}

// A Notificator that is down fails the attempt at once instead of holding it, and is
// found again by a retry a little later, which gRPC's usual back-off would miss.
func TestPushFindsANotificatorThatComesBack(t *testing.T) {
	t.Parallel()
	ok := func(context.Context, *notificatorv1.SendTechnicalPushRequest) (string, error) { return "push-1", nil }
	address, first := serveNotificator(t, "127.0.0.1:0", ok)
	p := newPush(t, performers.NotificatorConfig{Address: address})
	_, err := p.Perform(t.Context(), request(pushAction(0)))
	require.NoError(t, err)

	first.Stop()
	for range 20 {
		_, err = p.Perform(t.Context(), request(pushAction(time.Minute)))
		require.ErrorContains(t, err, "the call to the Notificator failed with Unavailable: ")
		require.False(t, performers.IsPermanent(err))
	}
	serveNotificator(t, address, ok)
	require.Eventually(t, func() bool {
		_, err := p.Perform(t.Context(), request(pushAction(0)))
		return err == nil
	}, 10*time.Second, 50*time.Millisecond)
}

// The reply is bounded: in what is taken and in what is kept.
func TestPushRepliesAreBounded(t *testing.T) {
	t.Parallel()
	var id string
	address, _ := serveNotificator(t, "127.0.0.1:0", func(context.Context, *notificatorv1.SendTechnicalPushRequest) (string, error) { return id, nil })
	p := newPush(t, performers.NotificatorConfig{Address: address})

	id = strings.Repeat("x", 60<<10)
	reply, err := p.Perform(t.Context(), request(pushAction(0)))
	require.NoError(t, err)
	require.Len(t, reply.Text, performers.MaxTextBytes)

	id = strings.Repeat("x", 65<<10)
	_, err = p.Perform(t.Context(), request(pushAction(0)))
	require.ErrorContains(t, err, "ResourceExhausted")
}

// Many pushes at once share one connection, which the first of them makes.
func TestPushSharesOneConnection(t *testing.T) {
	t.Parallel()
	l := &countingListener{}
	var err error
	l.Listener, err = net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s := grpc.NewServer()
	notificatorv1.RegisterNotificatorServer(s, notificator{send: func(context.Context, *notificatorv1.SendTechnicalPushRequest) (string, error) { return "", nil }})
	var serving sync.WaitGroup
	serving.Go(func() { _ = s.Serve(l) })
	t.Cleanup(serving.Wait)
	t.Cleanup(s.Stop)

	p := newPush(t, performers.NotificatorConfig{Address: l.Addr().String()})
	require.Zero(t, l.accepted())
	var all sync.WaitGroup
	for range 100 {
		all.Go(func() {
			if _, err := p.Perform(t.Context(), request(pushAction(0))); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	require.Equal(t, 1, l.accepted())
}

type countingListener struct {
	net.Listener

	mu sync.Mutex
	n  int
}

func (l *countingListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err == nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.n++
	}
	return c, err
}

func (l *countingListener) accepted() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.n
}
