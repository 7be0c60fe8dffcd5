package bindtest

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
)

// nobody is the user that named runs as where the tests run as root.
const nobody = 65534

// spawns are the starts that the thread of its goroutine makes.
var spawns = func() chan<- func() {
	calls := make(chan func())
	go func() {
		// The kernel ends a child with the thread that started it, so that thread must
		// stay: this goroutine never gives it back.
		runtime.LockOSThread()
		for call := range calls {
			call()
		}
	}()
	return calls
}()

// spawn starts cmd, never as root, so that it dies with this process, however this
// process dies.
func spawn(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if os.Geteuid() == 0 {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: nobody, Gid: nobody}
	}
	started := make(chan error)
	spawns <- func() { started <- cmd.Start() }
	return <-started
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
