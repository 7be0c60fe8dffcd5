//go:build !linux

package kind

import (
	"errors"
	"os/exec"
)

// group is the process group of a program. Agents run on Linux: elsewhere it cannot be
// told from a later one of the same number, and nothing is run.
type group struct{}

func startGroup(*exec.Cmd) (group, error) {
	return group{}, &exec.Error{Name: "agent", Err: errors.New("programs are run on Linux only")}
}

func (group) Name() string                  { return "" }
func (group) Kill()                         {}
func (group) stop(ended <-chan error) error { return <-ended }

// StopGroup has nothing to stop.
func StopGroup(string) error { return nil }
