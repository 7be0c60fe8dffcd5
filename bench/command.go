package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gnomon/bench/report"
)

// Bounds of the whole run.
const (
	quickBound = 5 * time.Minute
	fullBound  = time.Hour
)

// command is `go run ./bench`.
func command() *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:           "bench",
		Short:         "Compare gnomon with what a team would write by hand, Schedules and River",
		Args:          cobra.NoArgs,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE:          func(cmd *cobra.Command, _ []string) error { return run(cmd, o) },
	}
	f := cmd.Flags()
	f.BoolVar(&o.full, "full", false, "everything, in less than an hour; else what fits into 5 minutes")
	f.StringVar(&o.only, "only", "", "only the steps whose names hold one of these words, such as \"herds growth\"")
	f.StringVar(&o.results, "results", "bench/results", "directory of latest.json and latest.html")
	f.StringVar(&o.commit, "commit", "", "what is measured, told in the results")
	f.Float64Var(&o.scale, "scale", 1, "part of the jobs of each scenario: below 1 tries the benchmark, and measures nothing")
	f.StringVar(&o.profile, "cpuprofile", "", "file for a CPU profile of this process: clients, facade and workers")
	return cmd
}

// options are the command's flags.
type options struct {
	full                           bool
	only, results, commit, profile string
	scale                          float64
}

// run measures and shows. What was measured is shown however the run ended.
func run(cmd *cobra.Command, o options) error {
	mode, limit := "quick", quickBound
	if o.full {
		mode, limit = "full", fullBound
	}
	dir, err := os.MkdirTemp("", "gnomon-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	began := time.Now()
	r := report.New(mode, began)
	r.Commit, r.Load = o.commit, load()
	r.Machine = fmt.Sprintf("%s, %d CPUs, %s/%s, %s", processor(), runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version())
	// The last results take time to write too.
	ctx, cancel := context.WithDeadlineCause(cmd.Context(), began.Add(limit-5*time.Second), fmt.Errorf("the run reached its bound of %s", limit))
	defer cancel()
	stop, err := profiled(o.profile)
	if err != nil {
		return err
	}
	all := steps(o)
	show := newProgress(cmd.ErrOrStderr(), all)
	measured := play(ctx, all, &world{dir: dir, report: r, show: show, scale: o.scale})
	show.end()
	stop()
	r.Took, r.Load = time.Since(began).Round(time.Second).String(), r.Load+" before, "+load()+" after"
	return errors.Join(measured, shown(cmd.OutOrStdout(), r, o.results))
}

// shown writes the results.
func shown(out io.Writer, r *report.Report, dir string) error {
	text, err := r.JSON()
	if err != nil {
		return err
	}
	page, err := r.Page()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return err
	}
	for name, content := range map[string][]byte{"latest.json": append(text, '\n'), "latest.html": page} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			return err
		}
	}
	r.Table(out)
	fmt.Fprintf(out, "\nplots: %s\n", filepath.Join(dir, "latest.html"))
	return nil
}

// load is how busy the machine was in the last minute, where that can be known.
func load() string {
	text, _ := os.ReadFile("/proc/loadavg") // Linux has it
	first, _, _ := strings.Cut(string(text), " ")
	if first == "" {
		return "unknown"
	}
	return first
}

// processor names the CPU, where that can be known.
func processor() string {
	text, _ := os.ReadFile("/proc/cpuinfo") // Linux has it
	for line := range strings.Lines(string(text)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "unknown processor"
}
