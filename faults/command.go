package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gnomon/faults/scenarios"
	"gnomon/faults/verdict"
)

// fullMinutes is about what the full form takes on two cores.
const fullMinutes = 40

var errBroken = errors.New("a promise was broken")

// command is `go run ./faults`.
func command() *cobra.Command {
	var only, dir, output string
	var minutes float64
	cmd := &cobra.Command{
		Use:           "faults",
		Short:         "Break gnomon's processes and say which promises did not hold",
		Args:          cobra.NoArgs,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if output != "text" && output != "json" {
				return fmt.Errorf("--output is %q and must be text or json", output)
			}
			if minutes <= 0 {
				return fmt.Errorf("--minutes is %v and must be above 0", minutes)
			}
			some, err := scenarios.Of(strings.Fields(only))
			if err != nil {
				return err
			}
			scale := scenarios.Full()
			if minutes != fullMinutes {
				scale = scale.Part(minutes / fullMinutes)
			}
			return run(cmd, some, scale, dir, output)
		},
	}
	f := cmd.Flags()
	f.StringVar(&only, "faults", "", `only these, such as "F1 F2" (default all)`)
	f.Float64Var(&minutes, "minutes", fullMinutes, "about how long all of them may take; less injects less")
	f.StringVar(&dir, "dir", "", "where the records go and stay (default: a temporary directory, kept if a promise was broken)")
	f.StringVarP(&output, "output", "o", "text", "text or json")
	return cmd
}

// run plays the scenarios one after the other and tells what came of them. Records in
// a directory that nobody named are removed if nothing was broken.
func run(cmd *cobra.Command, some []scenarios.Scenario, scale scenarios.Scale, dir, output string) (err error) {
	kept := dir != ""
	if !kept {
		if dir, err = os.MkdirTemp("", "gnomon-faults-"); err != nil {
			return err
		}
	}
	show := newProgress(cmd.ErrOrStderr(), len(some))
	var all []*verdict.Verdict
	broken := 0
	for _, s := range some {
		v, err := scenarios.Run(cmd.Context(), s, scale, dir, show.of(s))
		show.clear()
		if v != nil {
			fmt.Fprintf(cmd.ErrOrStderr(), "%s %v: %d promises broken\n", v.Scenario, v.Faults, v.BrokenCount)
		}
		if err != nil {
			return fmt.Errorf("%w\nthe records are in %s", err, dir)
		}
		all = append(all, v)
		broken += v.BrokenCount
	}
	if output == "json" {
		if err := json.NewEncoder(cmd.OutOrStdout()).Encode(all); err != nil {
			return err
		}
	} else {
		table(cmd.OutOrStdout(), all)
	}
	switch {
	case broken > 0:
		fmt.Fprintln(cmd.ErrOrStderr(), "the records are in", dir)
		return errBroken
	case !kept:
		return os.RemoveAll(dir)
	}
	return nil
}

// elapsed is for people.
func elapsed(since time.Time) string { return time.Since(since).Round(time.Second).String() }
