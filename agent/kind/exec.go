package kind

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// Defaults of what an ExecAction leaves out, as its contract says.
const (
	defaultTimeout     = 10 * time.Minute
	defaultOutputLimit = 4096
	// politeness is how long a process group may take to stop when it is asked to.
	politeness = 10 * time.Second
)

// ExecConfig is what an agent permits programs.
type ExecConfig struct {
	// Allow are the patterns of programs with their arguments; see Pattern. None permits
	// nothing.
	Allow []string
	// AllowEnvironment are the names of variables that actions may set. PATH cannot be
	// among them, nor what makes loaders and interpreters load other code.
	AllowEnvironment []string
	// Directory is where programs run that name no directory, and Directories those that
	// they may name, with all below them. Default "/", and none.
	Directory   string
	Directories []string
	// Path is where programs are looked for, and their environment's PATH. Default
	// "/usr/local/bin:/usr/bin:/bin".
	Path string
}

// Exec runs programs.
type Exec struct {
	config   ExecConfig
	patterns []Pattern
}

// forbiddenVariables change which code a program runs.
var forbiddenVariables = []string{"PATH", "IFS", "ENV", "BASH_ENV", "SHELLOPTS", "PYTHONPATH", "PYTHONSTARTUP", "PERL5LIB", "PERL5OPT", "RUBYOPT", "RUBYLIB", "NODE_OPTIONS", "GCONV_PATH"}

// NewExec reads the allow-list, or says what is wrong with it.
func NewExec(c ExecConfig) (*Exec, error) {
	c.Directory = cmp.Or(c.Directory, "/")
	c.Path = cmp.Or(c.Path, "/usr/local/bin:/usr/bin:/bin")
	e := &Exec{config: c}
	for _, text := range c.Allow {
		p, err := ParsePattern(text)
		if err != nil {
			return nil, fmt.Errorf("allow-list: %w", err)
		}
		e.patterns = append(e.patterns, p)
	}
	for _, dir := range append([]string{c.Directory}, c.Directories...) {
		if !filepath.IsAbs(dir) {
			return nil, fmt.Errorf("the directory %q must be an absolute path", dir)
		}
	}
	for _, name := range c.AllowEnvironment {
		if slices.Contains(forbiddenVariables, name) || len(name) > 2 && name[:3] == "LD_" {
			return nil, fmt.Errorf("the variable %s cannot be allowed: it changes which code runs", name)
		}
	}
	return e, nil
}

// Permit says why the program is not run, or nil.
func (e *Exec) Permit(a *gnomonv1.NodeAction) error {
	_, _, err := e.resolve(a.GetExec())
	return err
}

// resolve finds the program and its directory as they really are.
func (e *Exec) resolve(x *gnomonv1.ExecAction) (program, directory string, err error) {
	program, err = allowed(e.patterns, e.config.Path, x.GetArgv())
	if err != nil {
		return "", "", err
	}
	for name := range x.GetEnvironment() {
		if !slices.Contains(e.config.AllowEnvironment, name) {
			return "", "", errors.New("the agent does not permit one of the variables of the environment")
		}
	}
	if x.GetWorkingDirectory() == "" {
		return program, e.config.Directory, nil
	}
	directory, err = filepath.EvalSymlinks(x.GetWorkingDirectory())
	if err != nil || !filepath.IsAbs(directory) || !slices.ContainsFunc(e.config.Directories, func(dir string) bool { return within(dir, directory) }) {
		return "", "", errors.New("the agent does not permit this working directory")
	}
	return program, directory, nil
}

// within says whether a path is a directory or below it.
func within(dir, path string) bool {
	resolved, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return false
	}
	relative, err := filepath.Rel(resolved, path)
	return err == nil && filepath.IsLocal(relative)
}

// Run runs the program in a process group of its own and waits until all of it is gone.
func (e *Exec) Run(ctx context.Context, a *gnomonv1.NodeAction, note func(process string) error) Outcome {
	x := a.GetExec()
	program, directory, err := e.resolve(x)
	if err != nil {
		return failed("%v", err)
	}
	limit := x.GetTimeout().AsDuration()
	if limit <= 0 {
		limit = defaultTimeout
	}
	output := newTail(int(cmp.Or(x.GetOutputLimit(), defaultOutputLimit)))
	cmd := exec.Command(program) //nolint:gosec,noctx // what the allow-list permits; stopped as a group below
	cmd.Args = x.GetArgv()
	cmd.Dir = directory
	cmd.Env = []string{"PATH=" + e.config.Path}
	for _, name := range slices.Sorted(maps.Keys(x.GetEnvironment())) {
		cmd.Env = append(cmd.Env, name+"="+x.GetEnvironment()[name])
	}
	cmd.Stdout, cmd.Stderr = output, output
	// Grandchildren that hold the pipe must not keep the action running for ever.
	cmd.WaitDelay = politeness
	group, err := startGroup(cmd)
	if err != nil {
		return failed("the program cannot be started: %v", errors.Unwrap(err))
	}
	if err := note(group.Name()); err != nil {
		group.Kill()
		_ = cmd.Wait()
		return failed("the agent could not note that it runs: %v", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	outcome := Outcome{State: gnomonv1.NodeAction_DONE}
	select {
	case err = <-ended:
	case <-timer.C:
		outcome = failed("it ran longer than %s and was stopped", limit)
		err = group.stop(ended)
	case <-ctx.Done():
		outcome = Outcome{State: gnomonv1.NodeAction_CANCELLED, Reason: fmt.Sprint(context.Cause(ctx))}
		err = group.stop(ended)
	}
	group.Kill() // what it left behind
	text, dropped := output.Text()
	outcome.Result = &gnomonv1.NodeAction_Result{Code: int32(cmd.ProcessState.ExitCode()), Output: text, OutputDroppedBytes: dropped}
	if outcome.State == gnomonv1.NodeAction_DONE && err != nil {
		outcome.State, outcome.Reason = gnomonv1.NodeAction_FAILED, fmt.Sprintf("the program ended with %s", cmd.ProcessState)
	}
	return outcome
}
