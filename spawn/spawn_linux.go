package spawn

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
)

// spawners are the threads that start children, by the niceness that these inherit.
var spawners = struct {
	sync.Mutex

	of map[int]chan<- func()
}{of: map[int]chan<- func(){}}

// Start starts cmd so that the kernel kills it (SIGKILL) when this process ends. niceness
// is added to this process's own: 0 leaves it, 19 is the most modest.
func Start(cmd *exec.Cmd, niceness int) error {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	started := make(chan error)
	spawner(niceness) <- func() { started <- cmd.Start() }
	return <-started
}

func spawner(niceness int) chan<- func() {
	spawners.Lock()
	defer spawners.Unlock()
	calls, ok := spawners.of[niceness]
	if !ok {
		all := make(chan func())
		go spawn(all, niceness)
		calls, spawners.of[niceness] = all, all
	}
	return calls
}

// spawn makes calls on a thread of its own, which it never gives back: the kernel ends a
// child with the thread that started it, and niceness is a thread's, not a process's.
func spawn(calls <-chan func(), niceness int) {
	runtime.LockOSThread()
	if syscall.Gettid() == os.Getpid() {
		// The niceness of the first thread is shown as the process's: take another.
		begun := make(chan struct{})
		go func() {
			close(begun)
			spawn(calls, niceness)
		}()
		<-begun
		runtime.UnlockOSThread()
		return
	}
	// To be more modest is always allowed.
	_ = renice(niceness)
	for call := range calls {
		call()
	}
}

// renice makes this thread, and what it starts, more modest.
func renice(by int) error {
	if by == 0 {
		return nil
	}
	// The kernel's own call answers with 20 minus the niceness, as -1 is an error.
	now, err := syscall.Getpriority(syscall.PRIO_PROCESS, 0)
	if err != nil {
		return fmt.Errorf("getpriority: %w", err)
	}
	if err := syscall.Setpriority(syscall.PRIO_PROCESS, 0, min(20-now+by, 19)); err != nil {
		return fmt.Errorf("setpriority: %w", err)
	}
	return nil
}
