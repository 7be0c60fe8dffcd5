package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path"
	"slices"
	"syscall"
	"time"
)

// Exit codes.
const (
	exitNotKilled = 1
	exitNotRun    = 2
)

// errNotKilled says that the table names mutants that need a person.
var errNotKilled = errors.New("not all mutants were killed")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	switch {
	case errors.Is(err, flag.ErrHelp):
	case errors.Is(err, errNotKilled):
		os.Exit(exitNotKilled)
	case err != nil:
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(exitNotRun)
	}
}

func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("mutants", flag.ContinueOnError)
	parallel := flags.Int("j", 2, "how many mutants are run at once")
	timeout := flags.Duration("timeout", 3*time.Minute, "bound of one package's tests")
	skip := flags.String("skip", "", "tests that are not run, as for go test -skip: do others notice too?")
	format := flags.String("o", "table", "output: table or json")
	flags.Usage = func() {
		fmt.Fprintln(flags.Output(), "usage: go run ./mutants [flags] [name or pattern ...]")
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *parallel < 1 || *timeout <= 0 || *format != "table" && *format != "json" {
		return errors.New("-j must be at least 1, -timeout positive, and -o table or json")
	}
	mutants, err := chosen(planted(), flags.Args())
	if err != nil {
		return err
	}
	began := time.Now()
	r, err := newRunner(ctx, mutants)
	if err != nil {
		return err
	}
	r.parallel, r.timeout, r.skip = *parallel, *timeout, *skip
	all := targets(mutants)
	show := newProgress(os.Stderr, len(all)+len(mutants))
	if err := r.baseline(ctx, all, show.tested); err != nil {
		return err
	}
	results, err := r.all(ctx, mutants, show.ran)
	if err != nil {
		return err
	}
	if *format == "json" {
		err = writeJSON(os.Stdout, results)
	} else {
		err = writeTable(os.Stdout, results, time.Since(began))
	}
	if err == nil && slices.ContainsFunc(results, func(r result) bool { return r.Verdict != killed }) {
		return errNotKilled
	}
	return err
}

// chosen are the mutants that the patterns of path.Match name; all without any.
func chosen(all []mutant, patterns []string) ([]mutant, error) {
	if len(patterns) == 0 {
		return all, nil
	}
	wanted := make([]bool, len(all))
	for _, pattern := range patterns {
		found := false
		for i, m := range all {
			match, err := path.Match(pattern, m.name)
			if err != nil {
				return nil, fmt.Errorf("%q is not a pattern: %w", pattern, err)
			}
			wanted[i] = wanted[i] || match
			found = found || match
		}
		if !found {
			return nil, fmt.Errorf("no mutant is called %q", pattern)
		}
	}
	var some []mutant
	for i, m := range all {
		if wanted[i] {
			some = append(some, m)
		}
	}
	return some, nil
}
