package e2e

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/starter"
)

// served is an installation whose facade serves gRPC and REST, all of whose logs,
// from debug on, and errors are kept.
type served struct {
	*installation

	calls gnomonv1.ActionServiceClient
	base  string // of REST, such as http://127.0.0.1:1234
	logs  *record
	// told is every error that a caller got.
	told record
}

// serveFacade brings an installation up and serves it. Change may alter the
// facade's configuration.
func serveFacade(t *testing.T, change func(*starter.Config)) *served {
	t.Helper()
	s := &served{installation: installIdle(t), logs: &record{}}
	s.log = slog.New(slog.NewTextHandler(s.logs, &slog.HandlerOptions{Level: slog.LevelDebug}))
	var err error
	s.client, err = client.Dial(client.Options{HostPort: temporal.Address(), Logger: sdklog.NewStructuredLogger(s.log)})
	require.NoError(t, err)
	t.Cleanup(s.client.Close)
	config := starter.Config{Client: s.client, TaskQueue: s.queue, Store: s.store, Logger: s.log}
	if change != nil {
		change(&config)
	}
	s.facade, err = starter.NewActions(config)
	require.NoError(t, err)
	server, err := starter.NewServer(starter.ServerConfig{
		GRPCAddress: "127.0.0.1:0", HTTPAddress: "127.0.0.1:0", Logger: s.log,
	}, starter.Services{Actions: s.facade}, s.facade.Ready)
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
	s.calls, s.base = gnomonv1.NewActionServiceClient(conn), "http://"+server.HTTPAddr()
	s.work(t)
	return s
}

// tell keeps the text of an error that a caller got.
func (s *served) tell(text string) { _, _ = s.told.Write([]byte(text + "\n")) }

// record is text that may be read while it is written.
type record struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (r *record) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.Write(p)
}

func (r *record) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.String()
}

// with are the lines that hold a word.
func (r *record) with(word string) []string {
	var found []string
	for line := range strings.Lines(r.String()) {
		if strings.Contains(line, word) {
			found = append(found, line)
		}
	}
	return found
}
