package devserver_test

import (
	"bytes"
	"log/slog"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"

	"gnomon/devserver"
)

func TestBadConfigIsRefused(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		cfg  devserver.Config
		want string
	}{
		"address": {devserver.Config{Address: "localhost"}, `Address must be an IP address, "localhost" is not`},
		"port":    {devserver.Config{Port: 65536}, "Port must be 0..65535, is 65536"},
		"no port": {devserver.Config{Port: -1}, "Port must be 0..65535, is -1"},
		"UI port": {devserver.Config{UIPort: -2}, "UIPort must be 0..65535 or -1 for no UI, is -2"},
		"same":    {devserver.Config{Port: 7, UIPort: 7}, "Port and UIPort must differ, both are 7"},
		"namespace": {
			devserver.Config{Namespaces: []string{""}},
			"Namespaces must not hold an empty name",
		},
		"attribute": {
			devserver.Config{SearchAttributes: map[string]enumspb.IndexedValueType{"A": 0}},
			"SearchAttributes must give A a type",
		},
		"two databases": {
			devserver.Config{DataDir: "data", Postgres: &devserver.Postgres{Address: "localhost:5432", User: "temporal"}},
			"Postgres and DataDir exclude each other",
		},
		"no port of Postgres": {
			devserver.Config{Postgres: &devserver.Postgres{Address: "localhost", User: "temporal"}},
			`Postgres.Address must be host:port, is "localhost"`,
		},
		"no user": {
			devserver.Config{Postgres: &devserver.Postgres{Address: "localhost:5432"}},
			"Postgres.User must not be empty",
		},
		"shards": {
			devserver.Config{Postgres: &devserver.Postgres{Address: "localhost:5432", User: "temporal", Shards: 16385}},
			"Postgres.Shards must be 1..16384, is 16385",
		},
		"connections": {
			devserver.Config{Postgres: &devserver.Postgres{Address: "localhost:5432", User: "temporal", MaxConns: -1}},
			"Postgres.MaxConns must be 1..2147483647, is -1",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := devserver.Start(t.Context(), tt.cfg)
			require.EqualError(t, err, "devserver: "+tt.want)
		})
	}
}

func TestATakenPortIsNamed(t *testing.T) {
	t.Parallel()
	var lc net.ListenConfig
	l, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, l.Close()) })
	port := l.Addr().(*net.TCPAddr).Port
	_, err = devserver.Start(t.Context(), devserver.Config{Port: port})
	require.ErrorContains(t, err, "devserver: Port ")
	_, err = devserver.Start(t.Context(), devserver.Config{UIPort: port})
	require.ErrorContains(t, err, "devserver: UIPort ")
}

func TestAGivenPortServesAgainAfterStop(t *testing.T) {
	t.Parallel()
	first := start(t, devserver.Config{})
	address, err := net.ResolveTCPAddr("tcp", first.Address())
	require.NoError(t, err)
	ui, err := net.ResolveTCPAddr("tcp", first.UIAddress())
	require.NoError(t, err)
	// Left open on purpose: a client does not go away because its server does.
	dial(t, first, "default")
	get(t, "http://"+first.UIAddress()+"/")
	first.Stop()
	second := start(t, devserver.Config{Port: address.Port, UIPort: ui.Port})
	require.Equal(t, first.Address(), second.Address())
	require.Equal(t, first.UIAddress(), second.UIAddress())
	dial(t, second, "default")
	get(t, "http://"+second.UIAddress()+"/")
}

func TestServersInOneProcessAreApart(t *testing.T) {
	t.Parallel()
	one, two := start(t, devserver.Config{UIPort: devserver.NoUI}), start(t, devserver.Config{UIPort: devserver.NoUI})
	c := dial(t, one, "default")
	work(t, c)
	greet(t, c, "only here")
	_, err := dial(t, two, "default").DescribeWorkflowExecution(t.Context(), "only here", "")
	require.ErrorContains(t, err, "not found")
}

func TestDynamicConfigReachesTheServer(t *testing.T) {
	t.Parallel()
	srv := start(t, devserver.Config{
		UIPort:        devserver.NoUI,
		DynamicConfig: map[string]any{"frontend.enableSchedules": false},
	})
	list := &workflowservice.ListSchedulesRequest{Namespace: "default", MaximumPageSize: 1}
	_, err := dial(t, srv, "default").WorkflowService().ListSchedules(t.Context(), list)
	require.ErrorContains(t, err, "disabled")
	_, err = dial(t, shared, "default").WorkflowService().ListSchedules(t.Context(), list)
	require.NoError(t, err)
}

func TestAServerIsQuiet(t *testing.T) {
	t.Parallel()
	var out logBuffer
	srv := start(t, devserver.Config{DataDir: t.TempDir(), Logger: slog.New(slog.NewTextHandler(&out, nil))})
	c := dial(t, srv, "default")
	w := work(t, c)
	greet(t, c, "quiet")
	w.Stop()
	c.Close()
	srv.Stop()
	require.Empty(t, out.String())
}

func TestStopWithOpenPollsIsQuick(t *testing.T) {
	t.Parallel()
	srv := start(t, devserver.Config{UIPort: devserver.NoUI})
	work(t, dial(t, srv, "default"))
	began := time.Now()
	srv.Stop()
	require.Less(t, time.Since(began), 5*time.Second)
}

// logBuffer is written to by a server's goroutines.
type logBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}
