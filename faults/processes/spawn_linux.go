package processes

import (
	"os/exec"
	"runtime"
	"syscall"
)

// spawns are the starts that the thread of spawner makes.
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

// spawn starts cmd so that it dies with this process, however this process dies.
func spawn(cmd *exec.Cmd) error {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	started := make(chan error)
	spawns <- func() { started <- cmd.Start() }
	return <-started
}
