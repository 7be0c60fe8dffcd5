//go:build !unix

package postgres

import "os/exec"

// unprivileged: there is no root.
func unprivileged() (owner, error) { return owner{}, nil }

func setUser(*exec.Cmd, int, int) {}
