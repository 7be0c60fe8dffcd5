package stages_test

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// G-26: a server that takes connections and answers nothing is found out by one question
// that takes its time; after that nobody waits for it, and it is called again when it
// answers.
func TestSilentServers(t *testing.T) {
	t.Parallel()
	var listen net.ListenConfig
	listener, err := listen.Listen(t.Context(), "tcp", "127.0.0.1:0") // nobody accepts, as where a process was stopped
	require.NoError(t, err)
	address := listener.Addr().String()
	s := load(t, address, ", timeouts: {shouldProcess: 50ms}")
	ask := func() error {
		_, err := s.ShouldProcess(t.Context(), &gnomonv1.ShouldProcessRequest{})
		return err
	}
	require.Equal(t, codes.DeadlineExceeded, status.Code(ask()))
	require.Eventually(t, func() bool { return status.Code(ask()) == codes.Unavailable }, 10*time.Second, 10*time.Millisecond, "it is not found out")
	begun := time.Now()
	_, err = s.Process(t.Context(), &gnomonv1.ProcessRequest{})
	require.ErrorContains(t, err, "stage price: Process: Unavailable: the stage's server is silent")
	require.EqualError(t, s.Absent(), err.Error())
	require.Less(t, time.Since(begun), 5*time.Second, "the visit waits for it")
	require.NoError(t, listener.Close())
	server{should: yes}.serve(t, address)
	require.Eventually(t, func() bool { return ask() == nil }, 30*time.Second, 10*time.Millisecond, "it is not found again")
}

// G-14: a stage whose questions take too long, while its server answers others, is not
// silent: it is visited.
func TestSlowIsNotSilent(t *testing.T) {
	t.Parallel()
	address, _ := server{
		should: func(ctx context.Context, _ *gnomonv1.ShouldProcessRequest) (*gnomonv1.ShouldProcessResponse, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		},
		process: func(context.Context, *gnomonv1.ProcessRequest) (*gnomonv1.ProcessResponse, error) {
			return &gnomonv1.ProcessResponse{}, nil
		},
	}.serve(t, "127.0.0.1:0")
	s := load(t, address, ", timeouts: {shouldProcess: 20ms}")
	for range 20 {
		_, err := s.ShouldProcess(t.Context(), &gnomonv1.ShouldProcessRequest{})
		require.Equal(t, codes.DeadlineExceeded, status.Code(err))
		_, err = s.Process(t.Context(), &gnomonv1.ProcessRequest{})
		require.NoError(t, err)
	}
}
