//go:build !linux

package spawn

import "os/exec"

// Start starts cmd. This system cannot tie the life of cmd to this process's, so that
// what outlives a crash is for the person there; and niceness is not heeded.
func Start(cmd *exec.Cmd, _ int) error { return cmd.Start() }
