package entity

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"testing"

	"gnomon/devserver"
	"gnomon/faults/processes"
	"gnomon/faults/roles"
	"gnomon/starter"
)

// temporal is the server that the tests of this process share.
var temporal *devserver.Server

func TestMain(m *testing.M) {
	if role := os.Getenv(processes.RoleVariable); role != "" {
		os.Exit(roles.Play())
	}
	flag.Parse()
	os.Exit(runTests(m))
}

func runTests(m *testing.M) int {
	var err error
	temporal, err = devserver.Start(context.Background(), devserver.Config{
		SearchAttributes: starter.SearchAttributes(), Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer temporal.Stop()
	return m.Run()
}
