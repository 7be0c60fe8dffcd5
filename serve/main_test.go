package serve_test

import (
	"context"
	"os"
	"testing"

	"gnomon/cli"
	"gnomon/faults/processes"
	"gnomon/serve"
)

// TestMain is the tests, or, in a process that one of them started, the command gnomon.
func TestMain(m *testing.M) {
	if os.Getenv(processes.RoleVariable) == "" {
		os.Exit(m.Run())
	}
	root := cli.New("test")
	root.AddCommand(serve.Agent("test"))
	os.Exit(cli.Run(context.Background(), root))
}
