package compose

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/server/common/authorization"
	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/log"
	"go.temporal.io/server/temporal"
	"go.temporal.io/server/tools/sql"
	"google.golang.org/protobuf/types/known/durationpb"

	"gnomon/cli"
	"gnomon/serve"
)

// roleVariable has this program be one of those that are in the images.
const roleVariable = "GNOMON_TEST_COMPOSE_ROLE"

// roles are those programs.
var roles = map[string]func(context.Context) error{
	"gnomon":            gnomon,
	"temporal-server":   temporalServer,
	"temporal-sql-tool": func(context.Context) error { return sql.RunTool(os.Args) },
	"temporal":          temporalCLI,
}

func TestMain(m *testing.M) {
	role := os.Getenv(roleVariable)
	if role == "" {
		os.Exit(m.Run())
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := roles[role](ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// gnomon is what cmd/gnomon is.
func gnomon(ctx context.Context) error {
	root := cli.New("compose")
	root.AddCommand(serve.Starter("compose"), serve.Worker("compose"), serve.Reconcile(), serve.Migrate())
	if code := cli.Run(ctx, root); code != 0 {
		return fmt.Errorf("exit code %d", code)
	}
	return nil
}

// temporalServer is what the image temporalio/server starts.
func temporalServer(ctx context.Context) error {
	cfg, err := config.Load(config.WithEmbedded())
	if err != nil {
		return err
	}
	end := make(chan any)
	context.AfterFunc(ctx, func() { close(end) })
	s, err := temporal.NewServer(
		temporal.ForServices(temporal.DefaultServices), temporal.WithConfig(cfg), temporal.InterruptOn(end),
		temporal.WithLogger(log.NewZapLogger(log.BuildZapLogger(cfg.Log))),
		temporal.WithAuthorizer(authorization.NewNoopAuthorizer()),
		temporal.WithClaimMapper(func(*config.Config) authorization.ClaimMapper { return authorization.NewNoopClaimMapper() }),
	)
	if err != nil {
		return err
	}
	return s.Start()
}

// temporalCLI is as much of the temporal CLI as the scripts call:
// temporal operator namespace describe|create --namespace NAME [--retention DURATION].
func temporalCLI(ctx context.Context) error {
	if len(os.Args) < 6 || os.Args[1] != "operator" || os.Args[2] != "namespace" || os.Args[4] != "--namespace" {
		return fmt.Errorf("not known: %v", os.Args)
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	namespaces, err := client.NewNamespaceClient(client.Options{HostPort: os.Getenv("TEMPORAL_ADDRESS")})
	if err != nil {
		return err
	}
	defer namespaces.Close()
	if os.Args[3] == "describe" {
		_, err := namespaces.Describe(ctx, os.Args[5])
		return err
	}
	retention, err := time.ParseDuration(os.Args[7])
	if err != nil {
		return err
	}
	err = namespaces.Register(ctx, &workflowservice.RegisterNamespaceRequest{
		Namespace: os.Args[5], WorkflowExecutionRetentionPeriod: durationpb.New(retention),
	})
	if there := (*serviceerror.NamespaceAlreadyExists)(nil); errors.As(err, &there) {
		return nil
	}
	return err
}
