package stages_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/timestamppb"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/outbound/tlstest"
	"gnomon/stages"
)

// load loads the only stage of a file.
func load(t *testing.T, address, more string) *stages.Declared {
	t.Helper()
	set, err := stages.Load(written(t, fmt.Sprintf("stages: [{name: price, entityType: offer, address: %q %s}]", address, more)), nil, quiet())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, set.Close()) })
	return set.Named("price")
}

func yes(context.Context, *gnomonv1.ShouldProcessRequest) (*gnomonv1.ShouldProcessResponse, error) {
	return &gnomonv1.ShouldProcessResponse{Answer: &gnomonv1.ShouldProcessResponse_ShouldProcess{ShouldProcess: true}}, nil
}

// G-17: a stage is a gRPC service; what it says comes through, and errors say the stage
// and the code.
func TestServersAreStages(t *testing.T) {
	t.Parallel()
	due := timestamppb.New(time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC))
	address, _ := server{should: yes, process: func(_ context.Context, r *gnomonv1.ProcessRequest) (*gnomonv1.ProcessResponse, error) {
		switch r.GetVisitId() {
		case "refused":
			return nil, status.Error(codes.FailedPrecondition, "no area")
		case "both":
			return &gnomonv1.ProcessResponse{Timer: due, KeepTimer: true}, nil
		case "never":
			return &gnomonv1.ProcessResponse{Timer: &timestamppb.Timestamp{Nanos: -1}}, nil
		default:
			return &gnomonv1.ProcessResponse{Timer: due}, nil
		}
	}}.serve(t, "127.0.0.1:0")
	s := load(t, address, "")
	should, err := s.ShouldProcess(t.Context(), &gnomonv1.ShouldProcessRequest{Stage: "price"})
	require.NoError(t, err)
	require.True(t, should.GetShouldProcess())
	done, err := s.Process(t.Context(), &gnomonv1.ProcessRequest{})
	require.NoError(t, err)
	require.Equal(t, due.AsTime(), done.GetTimer().AsTime())
	for visit, want := range map[string]string{
		"refused": "stage price: Process: FailedPrecondition: no area",
		"both":    "stage price: Process: InvalidArgument: timer and keep_timer must not both be set",
		"never":   "stage price: Process: InvalidArgument: timer is not a moment of the years 1 to 9999",
	} {
		_, err = s.Process(t.Context(), &gnomonv1.ProcessRequest{VisitId: visit})
		require.EqualError(t, err, want)
	}
	_, err = s.Stage.(stages.Saver).OnSaved(t.Context(), &gnomonv1.OnSavedRequest{})
	require.Equal(t, codes.Unimplemented, status.Code(err))
}

// ShouldProcessResponse.answer: none is an error, which counts as yes (G-14).
func TestAnAnswerIsNeeded(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		answer *gnomonv1.ShouldProcessResponse
		want   string
	}{
		"none":      {&gnomonv1.ShouldProcessResponse{}, "has neither should_process nor timer"},
		"bad timer": {&gnomonv1.ShouldProcessResponse{Answer: &gnomonv1.ShouldProcessResponse_Timer{Timer: &timestamppb.Timestamp{Nanos: -1}}}, "is not a moment"},
		"nil":       {nil, "answered nothing"},
	} {
		s := stages.Declare(stages.Declaration{Name: "price"}, asked{should: func(context.Context, *gnomonv1.ShouldProcessRequest) (*gnomonv1.ShouldProcessResponse, error) {
			return tt.answer, nil
		}}, quiet())
		_, err := s.ShouldProcess(t.Context(), &gnomonv1.ShouldProcessRequest{})
		require.ErrorContains(t, err, tt.want, name)
	}
}

// A stage that hangs is given up after its limit, whose fault that is; one whose caller is
// stopped is the caller's.
func TestCallsEnd(t *testing.T) {
	t.Parallel()
	entered := make(chan struct{}, 2)
	hang := func(ctx context.Context, _ *gnomonv1.ShouldProcessRequest) (*gnomonv1.ShouldProcessResponse, error) {
		entered <- struct{}{}
		<-ctx.Done()
		return nil, ctx.Err()
	}
	address, _ := server{should: hang}.serve(t, "127.0.0.1:0")
	inProgram := stages.Declare(stages.Declaration{Name: "price", ShouldProcessTimeout: 50 * time.Millisecond}, asked{should: hang}, quiet())
	for _, s := range []*stages.Declared{load(t, address, ", timeouts: {shouldProcess: 50ms}"), inProgram} {
		_, err := s.ShouldProcess(t.Context(), &gnomonv1.ShouldProcessRequest{})
		<-entered
		require.EqualError(t, err, "stage price: ShouldProcess: DeadlineExceeded: the call did not end within its time limit of 50ms")
		require.NotErrorIs(t, err, context.DeadlineExceeded)
	}
	for _, s := range []*stages.Declared{load(t, address, ", timeouts: {shouldProcess: 1m}"), stages.Declare(stages.Declaration{Name: "price"}, asked{should: hang}, quiet())} {
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			<-entered
			cancel()
		}()
		_, err := s.ShouldProcess(ctx, &gnomonv1.ShouldProcessRequest{})
		require.ErrorIs(t, err, context.Canceled)
		require.Equal(t, codes.Canceled, status.Code(err))
	}
}

// Nobody waits for a stage that is down, and one that comes back is found within two
// seconds, however long it was away.
func TestStagesComeAndGo(t *testing.T) {
	t.Parallel()
	address, stop := server{should: yes}.serve(t, "127.0.0.1:0")
	s := load(t, address, "")
	ask := func() error {
		_, err := s.ShouldProcess(t.Context(), &gnomonv1.ShouldProcessRequest{})
		return err
	}
	require.NoError(t, s.Absent())
	require.NoError(t, ask())
	require.NoError(t, s.Absent())
	stop()
	// Long enough for the pauses between attempts to have become as long as they get.
	for gone := time.Now(); time.Since(gone) < 4*time.Second; {
		began := time.Now()
		require.Equal(t, codes.Unavailable, status.Code(ask()))
		require.Less(t, time.Since(began), time.Second)
		select {
		case <-time.After(50 * time.Millisecond):
		case <-t.Context().Done():
		}
	}
	require.ErrorContains(t, s.Absent(), "stage price: Process: Unavailable: connection error")
	server{should: yes}.serve(t, address)
	back := time.Now()
	// Nobody need call it for that.
	require.Eventually(t, func() bool { return s.Absent() == nil }, 10*time.Second, 20*time.Millisecond)
	require.NoError(t, ask())
	require.Less(t, time.Since(back), 3*time.Second)
}

// TLS: the server must be who it says, and learns who the client is.
func TestStagesOverMutualTLS(t *testing.T) {
	t.Parallel()
	of, client := tlstest.New(t, "price.test"), tlstest.New(t, "price.test")
	address, _ := server{should: yes}.serve(t, "127.0.0.1:0", grpc.Creds(credentials.NewTLS(&tls.Config{
		Certificates: []tls.Certificate{of.Pair}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: client.Pool, MinVersion: tls.VersionTLS12,
	})))
	for name, tt := range map[string]struct {
		more string
		ok   bool
	}{
		"full":             {fmt.Sprintf(", tls: {ca: %s, cert: %s, key: %s}", of.CertFile, client.CertFile, client.KeyFile), true},
		"another name":     {fmt.Sprintf(", tls: {ca: %s, cert: %s, key: %s, serverName: price.test}", of.CertFile, client.CertFile, client.KeyFile), true},
		"a wrong name":     {fmt.Sprintf(", tls: {ca: %s, cert: %s, key: %s, serverName: other.test}", of.CertFile, client.CertFile, client.KeyFile), false},
		"no certificate":   {fmt.Sprintf(", tls: {ca: %s}", of.CertFile), false},
		"not trusted":      {fmt.Sprintf(", tls: {cert: %s, key: %s}", client.CertFile, client.KeyFile), false},
		"the system's own": {", tls: {}", false},
		"no TLS":           {"", false},
	} {
		_, err := load(t, address, tt.more).ShouldProcess(t.Context(), &gnomonv1.ShouldProcessRequest{})
		if tt.ok {
			require.NoError(t, err, name)
		} else {
			require.Equal(t, codes.Unavailable, status.Code(err), name)
		}
	}
}

// A stage that does not answer at the start is logged and stops nothing.
func TestCheck(t *testing.T) {
	t.Parallel()
	there, _ := server{should: yes}.serve(t, "127.0.0.1:0")
	var listen net.ListenConfig
	taken, err := listen.Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	nobody := taken.Addr().String()
	require.NoError(t, taken.Close())
	set, err := stages.Load(written(t, fmt.Sprintf(
		"stages: [{name: a, entityType: offer, address: %q}, {name: b, entityType: offer, address: %q}, {name: c, entityType: offer, go: c}]", there, nobody,
	)), stages.Registry{"c": asked{}}, quiet())
	require.NoError(t, err)
	defer func() { require.NoError(t, set.Close()) }()
	var log bytes.Buffer
	set.Check(t.Context(), time.Second, slog.New(slog.NewTextHandler(&log, nil)))
	require.Equal(t, 1, strings.Count(log.String(), "A stage does not answer"), log.String())
	require.Contains(t, log.String(), "stage=b address="+nobody)
}
