// The judge of the fault tests: go run ./faults/judge DIR.
package main

import (
	"context"
	"os"

	"gnomon/faults/verdict"
)

func main() {
	if err := verdict.Command().ExecuteContext(context.Background()); err != nil {
		os.Exit(1)
	}
}
