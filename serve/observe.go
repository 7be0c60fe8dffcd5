package serve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"go.temporal.io/sdk/client"

	"gnomon/metrics"
)

// Where starter, worker and agent show metrics and probes unless told otherwise.
const (
	starterMetrics = "127.0.0.1:7790"
	workerMetrics  = "127.0.0.1:7791"
	agentMetrics   = "127.0.0.1:7793" // gnomon-dev has 7792
)

// metricsStop bounds the end of the scrape under way.
const metricsStop = time.Second

// observing is what starter, worker and agent show of themselves, at the flag
// --metrics-address.
type observing struct {
	address  string
	flag     *pflag.Flag
	registry *metrics.Registry
	server   *metrics.Server
}

func (o *observing) flags(cmd *cobra.Command, address string) {
	cmd.Flags().StringVar(&o.address, "metrics-address", address, "host:port to serve /metrics, /livez and /readyz at, empty for none (env GNOMON_METRICS_ADDRESS)")
	o.flag = cmd.Flags().Lookup("metrics-address")
}

// begin makes the registry of this process.
func (o *observing) begin(build string) (err error) {
	o.registry, err = metrics.New(build)
	return err
}

// handler measures the client of Temporal, if anything does.
func (o *observing) handler() client.MetricsHandler {
	if o.registry == nil {
		return nil
	}
	return o.registry.Temporal()
}

// listen serves the metrics, and the probes of a process that needs what is checked. Where several processes of one machine were given no address, all but the
// first serve at a free port.
func (o *observing) listen(ctx context.Context, log *slog.Logger, checks ...metrics.Check) (err error) {
	if o.address == "" {
		return nil
	}
	o.server, err = metrics.Listen(ctx, o.address, o.registry, log, checks...)
	if errors.Is(err, syscall.EADDRINUSE) && !o.flag.Changed {
		log.Warn("Another process serves its metrics at the default address; these take a free port. Give each a --metrics-address.", "address", o.address)
		o.server, err = metrics.Listen(ctx, "127.0.0.1:0", o.registry, log, checks...)
	}
	if err != nil {
		return fmt.Errorf("--metrics-address: %w", err)
	}
	log.Info("The metrics are served.", "metrics", o.server.Addr())
	return nil
}

// close ends the serving, after everything else.
func (o *observing) close(log *slog.Logger) {
	ctx, cancel := context.WithTimeout(context.Background(), metricsStop)
	defer cancel()
	if err := o.server.Close(ctx); err != nil {
		log.Warn("The metrics were not closed cleanly.", "error", err)
	}
}
