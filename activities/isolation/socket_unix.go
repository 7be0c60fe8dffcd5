//go:build unix

package isolation

import (
	"net"
	"os"
	"os/exec"
	"syscall"
)

// Supported says whether this system can isolate.
const Supported = true

// apart keeps what a terminal sends to the worker (Ctrl-C) from the child, which has to
// finish what the worker waits for.
func apart(child *exec.Cmd) { child.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// socketPair makes the two ends of a connection: one for this process, and one that only
// the child that is started with it inherits.
func socketPair() (here net.Conn, there *os.File, err error) {
	// A child that another goroutine starts in between must not inherit either.
	syscall.ForkLock.RLock()
	ends, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err == nil {
		syscall.CloseOnExec(ends[0])
		syscall.CloseOnExec(ends[1])
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, nil, os.NewSyscallError("socketpair", err)
	}
	there = os.NewFile(uintptr(ends[1]), "performers, their end")
	if here, err = connection(ends[0]); err != nil {
		_ = there.Close()
		return nil, nil, err
	}
	return here, there, nil
}

// connection makes a descriptor a connection.
func connection(fd int) (net.Conn, error) {
	f := os.NewFile(uintptr(fd), "performers")
	defer f.Close() // FileConn has a copy.
	return net.FileConn(f)
}
