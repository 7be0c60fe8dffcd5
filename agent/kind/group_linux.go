package kind

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// group is the process group of a program.
type group struct {
	leader int
	// started tells this group from a later one of the same number.
	started string
}

// startGroup starts a program as the leader of a process group.
func startGroup(cmd *exec.Cmd) (group, error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return group{}, err
	}
	started, _ := startTime(cmd.Process.Pid) // it may have ended already
	return group{leader: cmd.Process.Pid, started: started}, nil
}

// Name is what StopGroup needs to find the group from another process.
func (g group) Name() string { return fmt.Sprintf("%d %s", g.leader, g.started) }

// stop asks the group to end and, if it does not, ends it.
func (g group) stop(ended <-chan error) error {
	_ = syscall.Kill(-g.leader, syscall.SIGTERM)
	timer := time.NewTimer(politeness)
	defer timer.Stop()
	select {
	case err := <-ended:
		return err
	case <-timer.C:
		g.Kill()
		return <-ended
	}
}

// Kill ends the group at once. A group that is gone is no error.
func (g group) Kill() { _ = syscall.Kill(-g.leader, syscall.SIGKILL) }

// StopGroup ends the group that an agent noted before it died, and returns when its
// leader is gone. A group whose leader has ended, or whose number belongs to another
// process by now, is left alone.
func StopGroup(name string) error {
	var g group
	if n, _ := fmt.Sscanf(name, "%d %s", &g.leader, &g.started); n < 2 || g.leader < 2 {
		return nil // noted before it was known, or by something else
	}
	for range 1000 {
		started, err := startTime(g.leader)
		if errors.Is(err, os.ErrNotExist) || err == nil && started != g.started {
			return nil
		}
		if err != nil {
			return err
		}
		g.Kill()
		time.Sleep(10 * time.Millisecond)
	}
	return fmt.Errorf("process group %d does not end", g.leader)
}

// startTime is when a process started, in ticks since the machine did. A zombie counts
// as gone.
func startTime(pid int) (string, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if errors.Is(err, syscall.ESRCH) {
		return "", os.ErrNotExist
	}
	if err != nil {
		return "", err
	}
	// The name in parentheses may hold anything, parentheses too.
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	const state, starttime = 0, 19
	if len(fields) <= starttime || fields[state] == "Z" {
		return "", os.ErrNotExist
	}
	return fields[starttime], nil
}
