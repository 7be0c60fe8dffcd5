package bindtest

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
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

// frozen says whether every thread of a process is stopped.
func frozen(pid int) bool {
	threads, err := filepath.Glob(filepath.Join("/proc", strconv.Itoa(pid), "task", "*", "stat"))
	if err != nil {
		return false
	}
	for _, thread := range threads {
		stat, err := os.ReadFile(thread)
		// The state follows the name, which is in brackets.
		if _, state, ok := bytes.Cut(stat, []byte(") ")); err == nil && (!ok || state[0] != 'T') {
			return false
		}
	}
	return true
}
