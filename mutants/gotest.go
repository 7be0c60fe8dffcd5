package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// passes runs a target as it stands. The go command answers from its cache where
// nothing has changed.
func (r *runner) passes(ctx context.Context, t target) error {
	args := append([]string{"test", "-vet=off", "-timeout=" + r.timeout.String(), "-skip=" + r.skip, t.pkg}, t.args("")...)
	out, err := r.goCommand(ctx, args...)
	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("%s does not pass without a mutant: %w\n%s", t, err, end(out))
	}
	return err
}

// build builds the tests of a package with an overlay. It gives what the compiler
// says where it refuses them.
func (r *runner) build(ctx context.Context, pkg, overlay, binary string) (string, error) {
	out, err := r.goCommand(ctx, "test", "-c", "-vet=off", "-overlay="+overlay, "-o", binary, pkg)
	var exit *exec.ExitError
	if ctx.Err() == nil && errors.As(err, &exit) {
		return end(out), nil
	}
	return "", err
}

func (r *runner) goCommand(ctx context.Context, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "go", args...) //nolint:gosec // the packages are named in this program
	cmd.Dir = r.root
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return out, err
}

// test runs built tests up to the first that fails, which it names, empty if all
// pass. What they write goes into dir.
func (r *runner) test(ctx context.Context, t target, binary, dir string) (string, error) {
	args := append([]string{"-test.failfast", "-test.timeout=" + r.timeout.String(), "-test.skip=" + r.skip}, t.args("test.")...)
	if r.rapid[t.pkg] {
		// A property's counterexample belongs to the mutant, not into the work tree.
		args = append(args, "-rapid.nofailfile", "-rapid.shrinktime=1s")
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, args...) //nolint:gosec // built from this module
	cmd.Dir = filepath.Join(r.root, filepath.FromSlash(t.pkg))
	cmd.Env = append(os.Environ(), "TMPDIR="+dir)
	out := &verdicts{}
	if !t.whole {
		// The other tests that run in parallel would only take time.
		out.failed = cancel
	}
	cmd.WaitDelay = stopWait
	cmd.Stdout, cmd.Stderr = out, out
	err := cmd.Run()
	if out.test != "" {
		return out.test, nil
	}
	var exit *exec.ExitError
	switch {
	case err == nil:
		return "", nil
	case ctx.Err() != nil || !errors.As(err, &exit):
		return "", err
	case out.timedOut:
		return "(out of time)", nil
	default:
		return "(the process)", nil
	}
}

// verdicts reads what tests print, for the first that fails.
type verdicts struct {
	// failed is called once the first failure was read.
	failed func()

	line     []byte
	test     string
	timedOut bool
}

// Write implements io.Writer.
func (v *verdicts) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		line, after, whole := bytes.Cut(rest, []byte("\n"))
		v.line = append(v.line, line...)
		if whole {
			v.read(string(v.line))
			v.line = v.line[:0]
		}
		rest = after
	}
	// A test's verdict comes in one piece with those of its subtests.
	if v.test != "" && v.failed != nil {
		v.failed()
	}
	return len(p), nil
}

func (v *verdicts) read(line string) {
	v.timedOut = v.timedOut || strings.HasPrefix(line, "panic: test timed out")
	text, found := strings.CutPrefix(strings.TrimLeft(line, " "), "--- FAIL: ")
	if !found {
		return
	}
	name, _, _ := strings.Cut(text, " ")
	// A test's own line comes before those of its subtests, which say more.
	if v.test == "" || strings.HasPrefix(name, v.test+"/") {
		v.test = name
	}
}

// stopWait is how long the output of a process that was broken off is waited for: one
// that it started may hold it open.
const stopWait = 5 * time.Second

// shown is how much of a program's output a person gets, in bytes.
const shown = 4000

func end(out []byte) string {
	text := strings.TrimSpace(string(out))
	if len(text) > shown {
		text = "…" + text[len(text)-shown:]
	}
	return text
}
