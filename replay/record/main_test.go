package record

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"testing"

	"gnomon/devserver"
	"gnomon/serve"
	"gnomon/starter"
)

const (
	// roleVariable makes the test binary the worker that is killed.
	roleVariable = "GNOMON_RECORD_ROLE"
	// continueAfter is how many events the server suggests to continue as new after:
	// few, but more than any other recording has.
	continueAfter = 120
)

var (
	// keep is set by `make record`.
	keep = flag.Bool("record", false, "keep the histories in replay/testdata")
	// temporal is the server that all recordings are made on.
	temporal *devserver.Server
)

func TestMain(m *testing.M) {
	if os.Getenv(roleVariable) != "" {
		os.Exit(work())
	}
	os.Exit(runTests(m))
}

func runTests(m *testing.M) int {
	flag.Parse()
	whole := flag.Lookup("test.run").Value.String() == "" && flag.Lookup("test.skip").Value.String() == "" &&
		flag.Lookup("test.list").Value.String() == ""
	// The recordings wait for times more than they compute.
	if err := flag.Set("test.parallel", "24"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	err := made.prepare(*keep)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	temporal, err = devserver.Start(context.Background(), devserver.Config{
		UIPort: devserver.NoUI, SearchAttributes: starter.SearchAttributes(),
		DynamicConfig: map[string]any{"limit.historyCount.suggestContinueAsNew": continueAfter},
		Logger:        slog.New(slog.DiscardHandler),
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer temporal.Stop()
	code := m.Run()
	if err := made.finish(*keep); err != nil && code == 0 && whole {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// work is the worker process, as `gnomon worker` runs it, until it is killed. It
// ends with the process that started it.
func work() int {
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	cmd := serve.Worker("dev")
	cmd.SetArgs(os.Args[1:])
	if err := cmd.ExecuteContext(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}
