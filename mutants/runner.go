package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
)

// verdict is what became of a mutant.
type verdict string

const (
	killed   verdict = "killed"
	survived verdict = "SURVIVED"
	// stale: it was never planted, as its text is gone or it does not compile.
	stale verdict = "STALE"
)

// result is one line of the table.
type result struct {
	Mutant      string  `json:"mutant"`
	Requirement string  `json:"requirement"`
	Why         string  `json:"why"`
	Verdict     verdict `json:"verdict"`
	// Package and Test are what killed it.
	Package string `json:"package,omitempty"`
	Test    string `json:"test,omitempty"`
	// Problem says why it is stale.
	Problem string  `json:"problem,omitempty"`
	Seconds float64 `json:"seconds"`
}

// runner runs tests against mutants.
type runner struct {
	root     string
	parallel int
	timeout  time.Duration
	skip     string // for go test -skip
	// rapid are the packages whose tests take its flags.
	rapid map[string]bool
}

// newRunner looks at the module and the packages of these mutants.
func newRunner(ctx context.Context, mutants []mutant) (*runner, error) {
	root, err := output(ctx, "list", "-m", "-f", "{{.Dir}}")
	if err != nil {
		return nil, err
	}
	r := &runner{root: strings.TrimSpace(root), rapid: map[string]bool{}}
	for _, t := range targets(mutants) {
		if _, known := r.rapid[t.pkg]; known {
			continue
		}
		imports, err := output(ctx, "list", "-test", "-deps", t.pkg)
		if err != nil {
			return nil, err
		}
		r.rapid[t.pkg] = slices.Contains(strings.Fields(imports), "pgregory.net/rapid")
	}
	return r, nil
}

// output is what a go command printed.
func output(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", args...) //nolint:gosec // the packages are named in this program
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("go %s: %w", strings.Join(args, " "), err)
	}
	return string(out), nil
}

// targets are those of the mutants, each once, in order.
func targets(mutants []mutant) []target {
	var all []target
	for _, m := range mutants {
		for _, t := range m.tests {
			if !slices.Contains(all, t) {
				all = append(all, t)
			}
		}
	}
	return all
}

// baseline runs the targets without a mutant: tests that fail anyway prove nothing.
func (r *runner) baseline(ctx context.Context, all []target, done func(target)) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(r.parallel)
	for _, t := range all {
		group.Go(func() error {
			err := r.passes(ctx, t)
			if err == nil {
				done(t)
			}
			return err
		})
	}
	return group.Wait()
}

// all runs the mutants, a few at once, and gives their results in their order.
func (r *runner) all(ctx context.Context, mutants []mutant, done func(result)) ([]result, error) {
	results := make([]result, len(mutants))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(r.parallel)
	for i, m := range mutants {
		group.Go(func() error {
			var err error
			if results[i], err = r.one(ctx, m); err != nil {
				return err
			}
			done(results[i])
			return nil
		})
	}
	return results, group.Wait()
}

// one plants a mutant and runs its tests up to the first package that fails.
func (r *runner) one(ctx context.Context, m mutant) (result, error) {
	began := time.Now()
	res := result{Mutant: m.name, Requirement: m.requirement, Why: m.why, Verdict: survived}
	dir, err := os.MkdirTemp("", "mutant")
	if err != nil {
		return res, err
	}
	defer func() { _ = os.RemoveAll(dir) }() // a file left behind in a temporary directory
	path, err := overlay(dir, r.root, m)
	if err != nil {
		res.Verdict, res.Problem = stale, err.Error()
		return res, nil
	}
	for i, t := range m.tests {
		binary := filepath.Join(dir, strconv.Itoa(i)+".test")
		refused, err := r.build(ctx, t.pkg, path, binary)
		if err != nil {
			return res, err
		}
		if refused != "" {
			res.Verdict, res.Problem = stale, "it does not compile: "+refused
			break
		}
		failed, err := r.test(ctx, t, binary, dir)
		if err != nil {
			return res, err
		}
		if failed != "" {
			res.Verdict, res.Package, res.Test = killed, strings.TrimPrefix(t.pkg, "./"), failed
			break
		}
	}
	res.Seconds = time.Since(began).Seconds()
	return res, nil
}
