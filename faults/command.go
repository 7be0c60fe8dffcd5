package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gnomon/faults/scenarios"
	"gnomon/faults/site"
	"gnomon/faults/verdict"
)

// fullMinutes is about what the full form takes on two cores.
const fullMinutes = 28

// errBroken is that of a run that was not all zeros, and has said so.
var errBroken = errors.New("a promise was broken")

// command is `go run ./faults`.
func command() *cobra.Command {
	var only, rows string
	var minutes float64
	var o options
	cmd := &cobra.Command{
		Use:           "faults",
		Short:         "Break gnomon's processes and say which promises did not hold",
		Args:          cobra.NoArgs,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.output != "text" && o.output != "json" {
				return fmt.Errorf("--output is %q and must be text or json", o.output)
			}
			if minutes <= 0 {
				return fmt.Errorf("--minutes is %v and must be above 0", minutes)
			}
			some, err := chosen(strings.Fields(only), site.Rows(rows))
			if err != nil {
				return err
			}
			o.some = some
			o.scale, o.full = scenarios.Full(), only == "" && site.Rows(rows) == site.SQLite && minutes >= fullMinutes
			if minutes != fullMinutes {
				o.scale = o.scale.Part(minutes / fullMinutes)
			}
			return run(cmd, o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&only, "faults", "", `only these, such as "F1 F2" (default all)`)
	f.StringVar(&rows, "store", string(site.SQLite), "what the rows are in: sqlite, or ydb for YDB's double, with F5 and F6 only if no faults are named")
	f.Float64Var(&minutes, "minutes", fullMinutes, "about how long all of them may take; less injects less")
	f.StringVar(&o.dir, "dir", "", "where the records go and stay (default: a temporary directory, kept if a promise was broken)")
	f.StringVarP(&o.output, "output", "o", "text", "text or json")
	f.StringVar(&o.commit, "commit", "", "what is tested, told above the table")
	return cmd
}

// chosen are the scenarios of some faults with their rows where they are to be.
func chosen(faults []string, rows site.Rows) ([]scenarios.Scenario, error) {
	if rows != site.SQLite && rows != site.YDB {
		return nil, fmt.Errorf("--store is %q and must be %s or %s", rows, site.SQLite, site.YDB)
	}
	if rows == site.YDB && len(faults) == 0 {
		faults = scenarios.OfTheStore
	}
	some, err := scenarios.Of(faults)
	for i := range some {
		some[i] = some[i].On(rows)
	}
	return some, err
}

// options are the command's flags.
type options struct {
	some                []scenarios.Scenario
	scale               scenarios.Scale
	dir, output, commit string
	// full is a run that has to reach the goals.
	full bool
}

// run plays the scenarios and tells what came of them. Records in a directory that
// nobody named are removed if nothing was broken.
func run(cmd *cobra.Command, o options) (err error) {
	kept := o.dir != ""
	if kept {
		o.dir, err = filepath.Abs(o.dir) // the processes run elsewhere
	} else {
		o.dir, err = os.MkdirTemp("", "gnomon-faults-")
	}
	if err != nil {
		return err
	}
	began, before := time.Now(), load()
	show := newProgress(cmd.ErrOrStderr(), len(o.some))
	all := playAll(cmd.Context(), o.some, func(ctx context.Context, s scenarios.Scenario) (*verdict.Verdict, error) {
		v, err := scenarios.Run(ctx, s, o.scale, o.dir, show.of(s))
		if err != nil {
			show.tellf("%s %v: NOT PLAYED: %v", s.Name, s.Faults, err)
		} else {
			show.tellf("%s %v: %d promises broken", s.Name, s.Faults, v.BrokenCount)
		}
		return v, err
	})
	if o.output == "json" {
		if err := encode(cmd.OutOrStdout(), all); err != nil {
			return err
		}
	} else {
		fmt.Fprintf(cmd.OutOrStdout(), "commit %s, %s, %d CPUs, load %s before and %s after, took %s\n\n",
			cmp.Or(o.commit, "unknown"), began.UTC().Format(time.RFC3339), runtime.NumCPU(), before, load(), elapsed(began))
		table(cmd.OutOrStdout(), all, o.full)
	}
	switch {
	case !zeros(all) || o.full && len(short(all)) > 0:
		fmt.Fprintln(cmd.ErrOrStderr(), "the records are in", o.dir)
		return errBroken
	case !kept:
		return os.RemoveAll(o.dir)
	}
	return nil
}

// zeros says whether all were played and nothing was broken.
func zeros(all []played) bool {
	return !slices.ContainsFunc(all, func(p played) bool { return p.verdict == nil || p.verdict.BrokenCount > 0 })
}

// encode tells programs: the verdicts there are.
func encode(out io.Writer, all []played) error {
	verdicts := make([]*verdict.Verdict, 0, len(all))
	for _, p := range all {
		if p.verdict != nil {
			verdicts = append(verdicts, p.verdict)
		}
	}
	return json.NewEncoder(out).Encode(verdicts)
}

// load is how busy the machine was in the last minute, where that can be known.
func load() string {
	text, _ := os.ReadFile("/proc/loadavg") // Linux has it
	first, _, _ := strings.Cut(string(text), " ")
	return cmp.Or(first, "unknown")
}

// elapsed is for people.
func elapsed(since time.Time) string { return time.Since(since).Round(time.Second).String() }
