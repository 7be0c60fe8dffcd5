package cli

import (
	"context"
	"crypto/tls"
	"log/slog"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/tracing"
)

// session holds the global flags and makes connections and printers from them.
type session struct {
	env     environment
	address string
	tls     bool
	timeout time.Duration
	output  outputFormat
	noColor bool
}

// maxReply leaves room for a page of 1,000 actions of 64 KiB each; gRPC's own
// limit of 4 MiB would refuse such a page.
const maxReply = 64 << 20

// connect returns a client of actions and what closes it.
func (s *session) connect() (gnomonv1.ActionServiceClient, func(), error) {
	conn, closeConn, err := s.open()
	if err != nil {
		return nil, nil, err
	}
	return gnomonv1.NewActionServiceClient(conn), closeConn, nil
}

// open returns a connection and what closes it. Nothing is dialled before the first
// call, so a wrong address shows there, as UNAVAILABLE.
func (s *session) open() (*grpc.ClientConn, func(), error) {
	// What cannot be exported is no matter of the command, which has been carried out.
	traces, err := tracing.FromEnvironment(context.Background(), "gnomon", "", slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, nil, usageError{err}
	}
	conn, err := s.dial(traces.DialOptions()...)
	if err != nil {
		return nil, nil, err
	}
	return conn, func() {
		_ = conn.Close()
		ctx, cancel := context.WithTimeout(context.Background(), exportTimeout)
		defer cancel()
		_ = traces.Shutdown(ctx)
	}, nil
}

func (s *session) dial(more ...grpc.DialOption) (*grpc.ClientConn, error) {
	if err := s.checkTimeout(); err != nil {
		return nil, err
	}
	creds := insecure.NewCredentials()
	if s.tls {
		creds = credentials.NewTLS(&tls.Config{MinVersion: tls.VersionTLS12})
	}
	conn, err := grpc.NewClient(s.address, append(more,
		grpc.WithTransportCredentials(creds),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxReply)),
	)...)
	if err != nil {
		return nil, usageErrorf("--address %q: %w", s.address, err)
	}
	return conn, nil
}

func (s *session) checkTimeout() error {
	if s.timeout < 0 {
		return usageErrorf("--timeout must not be negative, got %s", s.timeout)
	}
	return nil
}

// exportTimeout bounds how long a command waits for its trace to be exported.
const exportTimeout = 2 * time.Second

// call bounds one call by --timeout, in the trace that TRACEPARENT names.
func (s *session) call(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx = tracing.Continue(ctx)
	if s.timeout == 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, s.timeout)
}

func (s *session) printer(cmd *cobra.Command) *printer {
	out := cmd.OutOrStdout()
	width, _, _ := s.env.terminal(out)
	return &printer{
		out:    out,
		err:    cmd.ErrOrStderr(),
		format: s.output,
		style:  newStyle(!s.noColor && s.env.colour(out)),
		width:  width,
		moment: moment{now: s.env.now, local: s.env.local},
	}
}
