//go:build !linux

package bindtest

import (
	"os/exec"
	"time"
)

// nobody is the user that named runs as where the tests run as root.
const nobody = 65534

// unprivileged leaves it as it is.
func unprivileged(*exec.Cmd) {}

// frozen waits, since nothing tells.
func frozen(int) bool {
	time.Sleep(100 * time.Millisecond)
	return true
}
