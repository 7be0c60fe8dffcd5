package bindtest

import (
	"os"
	"os/exec"
	"syscall"
)

// nobody is the user that named runs as where the tests run as root.
const nobody = 65534

// unprivileged has cmd run as no root.
func unprivileged(cmd *exec.Cmd) {
	if os.Geteuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
}
