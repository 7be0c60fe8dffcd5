package cluster

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"testing"

	"gnomon/devserver"
	"gnomon/starter"
)

// temporal is the server that the tests of this process share.
var temporal *devserver.Server

func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", atOnce); err != nil {
		panic(err)
	}
	os.Exit(runTests(m))
}

// atOnce is how many tests run at once, whatever the machine has: most of their time they
// wait for a cycle.
const atOnce = "4"

func runTests(m *testing.M) int {
	var err error
	temporal, err = devserver.Start(context.Background(), devserver.Config{
		UIPort: devserver.NoUI, SearchAttributes: starter.SearchAttributes(),
		Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer temporal.Stop()
	return m.Run()
}
