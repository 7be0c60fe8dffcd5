package roles

import (
	"context"
	"os"
	"strings"
	"sync/atomic"

	"google.golang.org/grpc"
)

// failpoint kills this process between the commit of a call and its reply (F3).
type failpoint struct{ method atomic.Pointer[string] }

// arm has the process die after the next call of this name.
func (f *failpoint) arm(method string) { f.method.Store(&method) }

// intercept is for the connection to Temporal.
func (f *failpoint) intercept(ctx context.Context, method string, req, reply any, conn *grpc.ClientConn, call grpc.UnaryInvoker, o ...grpc.CallOption) error {
	err := call(ctx, method, req, reply, conn, o...)
	if want := f.method.Load(); err == nil && want != nil && strings.HasSuffix(method, "/"+*want) {
		self, _ := os.FindProcess(os.Getpid()) // there is one
		_ = self.Kill()
		select {} // dead within moments, and answers nobody
	}
	return err
}
