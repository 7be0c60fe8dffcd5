// Package serve is the long-running commands of gnomon: starter, worker and agent.
package serve

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/envconfig"
	sdklog "go.temporal.io/sdk/log"

	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/logging"
	"gnomon/store/open"
	"gnomon/tracing"
	"gnomon/worker"
)

// settings are what starter, worker and agent have in common.
type settings struct {
	temporalAddress, namespace, taskQueue string
	store                                 string
	logLevel                              slog.Level
	logFormat                             string
	allowMock                             bool
	dnsZones, stages                      string
	migrating                             migrating
	observing                             observing
	tracing                               *tracing.Tracing
}

// flags are those of starter and worker.
func (s *settings) flags(cmd *cobra.Command) {
	s.connectionFlags(cmd)
	s.migrating.flags(cmd)
	cmd.Flags().BoolVar(&s.allowMock, "allow-mock-actions", false, "accept mock_action; for tests of gnomon only (env GNOMON_ALLOW_MOCK_ACTIONS)")
	cmd.Flags().StringVar(&s.dnsZones, "dns-zones", "", "file of the DNS zones that batches change, see docs/batches.md; starter and worker need the same zones (env GNOMON_DNS_ZONES)")
	cmd.Flags().StringVar(&s.stages, "stages", "", "file of the stages of entities, see docs/stages.md; starter and worker need the same stages (env GNOMON_STAGES)")
}

// connectionFlags say where everything is.
func (s *settings) connectionFlags(cmd *cobra.Command) {
	s.temporalFlags(cmd)
	cmd.Flags().StringVar(&s.store, "store", open.Default, "the mirror: "+open.Forms+" (env GNOMON_STORE)")
}

// temporalFlags say where Temporal is, and what is logged how.
func (s *settings) temporalFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&s.temporalAddress, "temporal-address", "", "host:port of Temporal (default: TEMPORAL_ADDRESS or the profile's, else localhost:7233)")
	f.StringVar(&s.namespace, "namespace", "", "Temporal namespace (default: TEMPORAL_NAMESPACE or the profile's, else default)")
	f.StringVar(&s.taskQueue, "task-queue", workflowv1.DefaultTaskQueue, "task queue of workflows and activities (env GNOMON_TASK_QUEUE)")
	f.TextVar(&s.logLevel, "log-level", slog.LevelInfo, "debug, info, warn or error (env GNOMON_LOG_LEVEL)")
	f.StringVar(&s.logFormat, "log-format", logging.Auto, "json, text, or auto: text on a terminal, else json (env GNOMON_LOG_FORMAT)")
}

// fromEnvironment sets the flags that were not given from GNOMON_<FLAG>.
func fromEnvironment(cmd *cobra.Command) error {
	var failed error
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		name := "GNOMON_" + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
		value, ok := os.LookupEnv(name)
		if !ok || f.Changed || failed != nil || !strings.Contains(f.Usage, "(env "+name+")") {
			return
		}
		if err := cmd.Flags().Set(f.Name, value); err != nil {
			failed = fmt.Errorf("%s: %w", name, err)
		}
	})
	return failed
}

func (s *settings) logger(w io.Writer) (*slog.Logger, error) {
	return logging.New(w, s.logLevel, s.logFormat)
}

// trace begins what the OTEL_* variables ask for and gives what ends it.
func (s *settings) trace(ctx context.Context, service, build string, log *slog.Logger) (end func(), err error) {
	s.tracing, err = tracing.FromEnvironment(ctx, service, build, log)
	return func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
		defer cancel()
		if err := s.tracing.Shutdown(ctx); err != nil {
			log.Warn("The last traces could not be exported.", "error", err)
		}
	}, err
}

// dial connects to Temporal as TEMPORAL_* variables, the profile and the flags say,
// the flags first, and says which namespace that is.
func (s *settings) dial(ctx context.Context, identity string, log *slog.Logger) (client.Client, string, error) {
	options, err := s.options(identity, log)
	if err != nil {
		return nil, "", err
	}
	c, err := client.DialContext(ctx, options)
	if err != nil {
		address := options.HostPort
		if address == "" {
			address = client.DefaultHostPort
		}
		return nil, "", fmt.Errorf("temporal at %s does not answer: %w", address, err)
	}
	return c, options.Namespace, nil
}

// options are those of every connection to Temporal.
func (s *settings) options(identity string, log *slog.Logger) (client.Options, error) {
	options, err := envconfig.LoadDefaultClientOptions()
	if err != nil {
		return client.Options{}, fmt.Errorf("the TEMPORAL_* settings cannot be read: %w", err)
	}
	if s.temporalAddress != "" {
		options.HostPort = s.temporalAddress
	}
	if s.namespace != "" {
		options.Namespace = s.namespace
	}
	if options.Namespace == "" {
		options.Namespace = client.DefaultNamespace
	}
	options.Identity = identity
	options.ConnectionOptions.DialOptions = append(options.ConnectionOptions.DialOptions, reconnecting()...)
	options.ConnectionOptions = worker.Connection(options.ConnectionOptions)
	options.Logger = sdklog.NewStructuredLogger(log)
	options.MetricsHandler = s.observing.handler()
	return s.tracing.Client(options), nil
}
