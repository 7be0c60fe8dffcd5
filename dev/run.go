package dev

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"

	"gnomon/activities/performers"
	"gnomon/changes/kinds"
	"gnomon/devserver"
	"gnomon/logging"
	"gnomon/metrics"
	"gnomon/notices/channels"
	"gnomon/receiver"
	"gnomon/serve"
	"gnomon/stages"
	"gnomon/starter"
	"gnomon/store"
	"gnomon/store/open"
	"gnomon/store/sqlite"
	"gnomon/tracing"
	"gnomon/worker"
)

const (
	loopback        = "127.0.0.1"
	defaultLogLevel = slog.LevelWarn
	stopTimeout     = 10 * time.Second
	// reconcileInterval is short, since a person waits for what it mends.
	reconcileInterval = time.Minute
	// workOfUsers is the page of the Web UI that lists actions and batches and not the
	// reconciler beside them.
	workOfUsers = "/namespaces/default/workflows?query=WorkflowType%20IN%20(%22Action%22%2C%20%22Batch%22)"
)

type options struct {
	temporalPort, uiPort, grpcPort, httpPort, receiverPort, metricsPort int

	dataDir              string
	ephemeral, allowMock bool
	notificator, record  string
	dnsZones, stages     string
	publish              serve.PublishFlags
	notifications        string
	agents               int
	allowExec            []string
	logLevel             slog.Level
}

// addresses is the line of JSON on stdout.
type addresses struct {
	Temporal string `json:"temporal"`
	UI       string `json:"ui"`
	GRPC     string `json:"grpc"`
	HTTP     string `json:"http"`
	Receiver string `json:"receiver"`
	Metrics  string `json:"metrics"`
}

// run brings everything up, says so, and takes it down again when ctx ends, in the
// opposite order.
func run(ctx context.Context, o options, out, people io.Writer) (err error) {
	log, err := logging.New(people, o.logLevel, logging.Text)
	if err != nil {
		return err
	}
	var parts closers
	defer func() { parts.close() }()

	storeName, temporalDir, err := places(ctx, o)
	if err != nil {
		return err
	}
	fmt.Fprintln(people, "Temporal is starting ...")
	temporal, err := devserver.Start(ctx, devserver.Config{
		DataDir: temporalDir, Port: o.temporalPort, UIPort: o.uiPort,
		SearchAttributes: starter.SearchAttributes(), Logger: log,
	})
	if err != nil {
		return err
	}
	parts.add(temporal.Stop)
	registry, err := metrics.New("dev")
	if err != nil {
		return err
	}
	traces, err := trace(ctx, log, &parts)
	if err != nil {
		return err
	}
	c, err := client.DialContext(ctx, traces.Client(client.Options{
		HostPort: temporal.Address(), Identity: worker.Identity("dev"), Logger: sdklog.NewStructuredLogger(log),
		MetricsHandler:    registry.Temporal(),
		ConnectionOptions: worker.Connection(client.ConnectionOptions{}),
	}))
	if err != nil {
		return err
	}
	parts.add(c.Close)
	rows, err := open.Store(ctx, storeName)
	if err != nil {
		return err
	}
	rows = registry.Store(rows)
	parts.add(func() { logged(log, "store", rows.Close()) })
	shown, err := observe(ctx, c, rows, registry, o, log, &parts)
	if err != nil {
		return err
	}

	inbox, err := receiver.Start(context.WithoutCancel(ctx), receiver.Config{
		Address: address(o.receiverPort), Out: people, RecordPath: o.record,
	})
	if err != nil {
		return err
	}
	parts.add(func() { logged(log, "receiver", inbox.Close()) })

	facade, err := startGnomon(ctx, c, rows, registry, o, log, traces, &parts)
	if err != nil {
		return err
	}
	shown.Serving()
	at := addresses{temporal.Address(), temporal.UIAddress(), facade.GRPCAddr(), facade.HTTPAddr(), inbox.Addr(), shown.Addr()}
	if err := json.NewEncoder(out).Encode(at); err != nil {
		return err
	}
	greet(people, at, o)
	select {
	case <-ctx.Done():
		shown.Stopping()
		fmt.Fprintln(people, "\nStopping ...")
		return nil
	case err := <-facade.Failed():
		return err
	}
}

// startGnomon starts worker, facade and agents, each of which needs those before it.
func startGnomon(ctx context.Context, c client.Client, rows store.Store, registry *metrics.Registry, o options, log *slog.Logger, traces *tracing.Tracing, parts *closers) (*starter.Server, error) {
	if err := startWorker(ctx, c, rows, registry, o, log, parts); err != nil {
		return nil, err
	}
	facade, err := startFacade(ctx, c, rows, registry, o, log, traces, parts)
	if err != nil {
		return nil, err
	}
	return facade, startAgents(ctx, c, facade.GRPCAddr(), o, log, parts)
}

// trace begins what the OTEL_* variables ask for.
func trace(ctx context.Context, log *slog.Logger, parts *closers) (*tracing.Tracing, error) {
	traces, err := tracing.FromEnvironment(ctx, "gnomon-dev", "", log)
	if err != nil {
		return nil, err
	}
	parts.add(func() {
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
		defer cancel()
		logged(log, "traces", traces.Shutdown(end))
	})
	return traces, nil
}

// places are where store and Temporal keep what they have, once the ports are free.
func places(ctx context.Context, o options) (storeName, temporalDir string, err error) {
	if err := checkPorts(ctx, o); err != nil {
		return "", "", err
	}
	if o.ephemeral {
		return "sqlite:" + sqlite.MemoryPath, "", nil
	}
	if err := os.MkdirAll(o.dataDir, 0o750); err != nil {
		return "", "", fmt.Errorf("--data-dir: %w", err)
	}
	return "sqlite:" + filepath.Join(o.dataDir, "gnomon.db"), o.dataDir, nil
}

func startWorker(ctx context.Context, c client.Client, rows store.Store, registry *metrics.Registry, o options, log *slog.Logger, parts *closers) error {
	perform := performers.Default()
	perform.AllowMock = o.allowMock
	perform.Notificator.Address = o.notificator
	changing, err := kinds.Open(o.dnsZones)
	if err != nil {
		return err
	}
	parts.add(func() { logged(log, "kinds of changes", changing.Close()) })
	told, err := channels.Open(o.notifications, log)
	if err != nil {
		return err
	}
	parts.add(func() { logged(log, "channels", told.Close()) })
	watched, err := serve.OpenStages(ctx, o.stages, &o.publish, log)
	if err != nil {
		return err
	}
	parts.add(func() { logged(log, "stages", watched.Close()) })
	w, err := worker.New(c, worker.Config{
		Store: rows, Performers: perform, Changes: changing, Notices: told.Set, Stages: watched.Set, Publisher: watched.Publisher, StopGrace: 2 * time.Second, ReconcileInterval: reconcileInterval,
		Metrics: metrics.NewWorker(registry), Logger: log,
	})
	if err != nil {
		return err
	}
	if err := w.Start(); err != nil {
		return err
	}
	parts.add(w.Stop)
	return nil
}

func startFacade(ctx context.Context, c client.Client, rows store.Store, registry *metrics.Registry, o options, log *slog.Logger, traces *tracing.Tracing, parts *closers) (*starter.Server, error) {
	changing, err := kinds.Open(o.dnsZones)
	if err != nil {
		return nil, err
	}
	parts.add(func() { logged(log, "kinds of changes of the facade", changing.Close()) })
	declared, err := stages.Declarations(o.stages)
	if err != nil {
		return nil, err
	}
	config := starter.Config{Client: c, Store: rows, Changes: changing, Stages: declared, AllowMockActions: o.allowMock, Logger: log}
	measures := metrics.NewFacade(registry)
	config.Untold = measures.Untold
	services, ready, err := starter.NewServices(config)
	if err != nil {
		return nil, err
	}
	watch, end := context.WithCancel(context.WithoutCancel(ctx))
	var watching sync.WaitGroup
	watching.Go(func() { measures.WatchOverdue(watch, rows, log) })
	parts.add(func() {
		end()
		watching.Wait()
	})
	facade, err := starter.NewServer(starter.ServerConfig{
		GRPCAddress: address(o.grpcPort), HTTPAddress: address(o.httpPort), Options: measures.ServerOptions(), Tracing: traces, Logger: log,
	}, services, ready)
	if err != nil {
		return nil, err
	}
	if err := facade.Start(); err != nil {
		return nil, err
	}
	parts.add(func() {
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
		defer cancel()
		logged(log, "facade", facade.Stop(end))
	})
	return facade, nil
}

// greet tells a person what there is and what to type next.
func greet(w io.Writer, at addresses, o options) {
	kept := "in memory, gone with this process"
	if !o.ephemeral {
		kept = "in " + o.dataDir
	}
	flag := ""
	if at.GRPC != "127.0.0.1:7700" {
		flag = " --address " + at.GRPC
	}
	fmt.Fprintf(w, `
gnomon runs; everything is kept %s. Ctrl-C stops it.

  gRPC      %s
  REST      http://%s/v1/actions   (http://%s/openapi.json)
  Web UI    http://%s%s
  Temporal  %s
  receiver  http://%s   prints below what reaches it
  metrics   http://%s/metrics

Now type in another terminal:

  go run ./cmd/gnomon action create hello%s --in 5s --url http://%s/hello --body '{"hello":"world"}'

%s`, kept, at.GRPC, at.HTTP, at.HTTP, at.UI, workOfUsers, at.Temporal, at.Receiver, at.Metrics, flag, at.Receiver, greetAgents(o, flag))
}

func address(port int) string { return net.JoinHostPort(loopback, strconv.Itoa(port)) }

func logged(log *slog.Logger, what string, err error) {
	if err != nil {
		log.Warn("It did not stop cleanly.", "part", what, "error", err)
	}
}

// closers are undone in the opposite order.
type closers []func()

func (c *closers) add(f func()) { *c = append(*c, f) }

func (c *closers) close() {
	for _, f := range slices.Backward(*c) {
		f()
	}
}
