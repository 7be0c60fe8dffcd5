package processes

import (
	"context"
	"fmt"
	"syscall"
	"time"
)

// Freeze stops the process (SIGSTOP), as a machine that stalls would, and returns when
// every thread of it stands still. Thaw ends that, and so does Kill.
func (p *Process) Freeze(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startWithin)
	defer cancel()
	if err := p.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		return err
	}
	look := time.NewTicker(time.Millisecond)
	defer look.Stop()
	for !frozen(p.PID()) {
		select {
		case <-look.C:
		case <-ctx.Done():
			return fmt.Errorf("%s does not stand still: %w", p.role, ctx.Err())
		}
	}
	return nil
}

// Thaw has a frozen process go on.
func (p *Process) Thaw() { _ = p.cmd.Process.Signal(syscall.SIGCONT) } // it may be gone already
