package activities_test

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"

	"gnomon/activities"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/store/storetest"
)

// nth is an interceptor that has the server say which attempt of an activity it is.
type nth struct {
	interceptor.WorkerInterceptorBase

	attempt int32
}

// InterceptActivity implements interceptor.WorkerInterceptor.
func (n *nth) InterceptActivity(_ context.Context, next interceptor.ActivityInboundInterceptor) interceptor.ActivityInboundInterceptor {
	i := &nthInbound{attempt: n.attempt}
	i.Next = next
	return i
}

type nthInbound struct {
	interceptor.ActivityInboundInterceptorBase

	attempt int32
}

// Init implements interceptor.ActivityInboundInterceptor.
func (i *nthInbound) Init(out interceptor.ActivityOutboundInterceptor) error {
	o := &nthOutbound{attempt: i.attempt}
	o.Next = out
	return i.Next.Init(o)
}

type nthOutbound struct {
	interceptor.ActivityOutboundInterceptorBase

	attempt int32
}

// GetInfo implements interceptor.ActivityOutboundInterceptor.
func (o *nthOutbound) GetInfo(ctx context.Context) activity.Info {
	info := o.Next.GetInfo(ctx)
	info.Attempt = o.attempt
	return info
}

// F5: the workflows that waited for a store that was down do not all go on in one moment
// when it is back, which would make late what falls due then; their rows stand at once.
// Who had not to wait does not wait now.
func TestTurnsAfterAnOutage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const waited = 60
		r := storetest.NewMemory()
		m := activities.NewMirror(r, slog.New(slog.DiscardHandler))
		defer m.Close(context.Background())
		began := time.Now()
		ended := make(chan time.Duration, waited)
		mirror := func(id string, attempt int32, stop chan struct{}) error {
			env := new(testsuite.WorkflowTestSuite).NewTestActivityEnvironment()
			env.SetTestTimeout(time.Hour)
			env.SetWorkerOptions(worker.Options{Interceptors: []interceptor.WorkerInterceptor{&nth{attempt: attempt}}})
			env.SetWorkerStopChannel(stop)
			env.RegisterActivity(m.Mirror)
			_, err := env.ExecuteActivity(m.Mirror, &workflowv1.MirrorInput{Action: row(id, 1).Action})
			return err
		}
		stop := make(chan struct{})
		for n := range waited {
			go func() {
				if mirror(fmt.Sprint(n), 2, stop) == nil {
					ended <- time.Since(began)
				}
			}()
		}
		synctest.Wait()
		require.Len(t, r.IDs(), waited, "the rows stand")
		require.Len(t, ended, 10)
		require.NoError(t, mirror("new", 1, stop))
		require.Zero(t, time.Since(began))
		<-time.After(2 * time.Second) // of the bubble
		synctest.Wait()
		require.Len(t, ended, 30)
		// A worker that stops holds none of them up: they go on elsewhere.
		close(stop)
		synctest.Wait()
		require.Len(t, ended, 30)
		require.ErrorContains(t, mirror("late", 2, stop), "canceled")
	})
}
