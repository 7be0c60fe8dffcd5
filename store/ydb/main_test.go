package ydb_test

import (
	"flag"
	"os"
	"testing"
)

// A call through the SDK takes a hundred times one of SQLite's, so the properties are
// tried less often here, unless the command line says how often.
func TestMain(m *testing.M) {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "rapid.checks" })
	if !given {
		if err := flag.Set("rapid.checks", "20"); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}
