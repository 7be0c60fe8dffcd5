package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/spf13/cobra"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
)

// maxHealthBody is how much of an answer is shown: it is a word or a sentence.
const maxHealthBody = 1 << 10

// healthCommand asks a process whether it is ready. It is a verb, and not a shell line
// with curl, because the image of gnomon has neither.
func healthCommand(s *session) *cobra.Command {
	var at string
	cmd := &cobra.Command{
		Use:   "health",
		Short: "Ask a process of gnomon whether it is ready",
		Long: `Ask a process of gnomon whether it is ready: a starter by the gRPC health protocol at --address, or a starter or worker by a URL, which must answer 200.

The exit code is 0 if it is ready and 1 otherwise, as health checks of containers want it.`,
		Example: `  gnomon health --address 127.0.0.1:7700
  gnomon health --http http://127.0.0.1:7780/readyz --timeout 2s`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := s.checkTimeout(); err != nil {
				return err
			}
			ctx, cancel := s.call(cmd.Context())
			defer cancel()
			ask := s.askGRPC
			if at != "" {
				ask = func(ctx context.Context) (string, error) { return askHTTP(ctx, at) }
			}
			answer, err := ask(ctx)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), answer)
			return err
		},
	}
	cmd.Flags().StringVar(&at, "http", "", "URL to ask instead of --address, such as http://127.0.0.1:7780/readyz")
	return cmd
}

// askGRPC asks for the health of the whole server.
func (s *session) askGRPC(ctx context.Context) (string, error) {
	conn, err := s.dial()
	if err != nil {
		return "", err
	}
	defer func() { _ = conn.Close() }()
	reply, err := healthv1.NewHealthClient(conn).Check(ctx, &healthv1.HealthCheckRequest{})
	if err != nil {
		return "", err
	}
	if reply.GetStatus() != healthv1.HealthCheckResponse_SERVING {
		return "", fmt.Errorf("%s is %s", s.address, reply.GetStatus())
	}
	return reply.GetStatus().String(), nil
}

func askHTTP(ctx context.Context, at string) (string, error) {
	u, err := url.Parse(at)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return "", usageErrorf("--http %q must be a URL of http or https", at)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, at, http.NoBody)
	if err != nil {
		return "", err
	}
	reply, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer func() { _ = reply.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(reply.Body, maxHealthBody))
	text := visible(strings.TrimSpace(string(body)))
	switch {
	case reply.StatusCode != http.StatusOK:
		return "", fmt.Errorf("%s answered %s: %s", at, reply.Status, text)
	case err != nil:
		return "", errors.Join(fmt.Errorf("%s did not finish its answer", at), err)
	}
	return text, nil
}
