//go:build !linux

package bindtest

import "os/exec"

// nobody is the user that named runs as where the tests run as root.
const nobody = 65534

// unprivileged leaves it as it is.
func unprivileged(*exec.Cmd) {}
