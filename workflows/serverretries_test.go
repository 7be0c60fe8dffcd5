package workflows_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"gnomon/action"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/workflows"
)

// told notes the options that the server is told to execute Perform with, which the
// test environment follows only in part.
type told struct {
	interceptor.WorkerInterceptorBase

	options []workflow.ActivityOptions
}

// InterceptWorkflow implements interceptor.WorkerInterceptor.
func (t *told) InterceptWorkflow(_ workflow.Context, next interceptor.WorkflowInboundInterceptor) interceptor.WorkflowInboundInterceptor {
	i := &toldInbound{told: t}
	i.Next = next
	return i
}

type toldInbound struct {
	interceptor.WorkflowInboundInterceptorBase

	told *told
}

// Init implements interceptor.WorkflowInboundInterceptor.
func (i *toldInbound) Init(out interceptor.WorkflowOutboundInterceptor) error {
	o := &toldOutbound{told: i.told}
	o.Next = out
	return i.Next.Init(o)
}

type toldOutbound struct {
	interceptor.WorkflowOutboundInterceptorBase

	told *told
}

// ExecuteActivity implements interceptor.WorkflowOutboundInterceptor.
func (o *toldOutbound) ExecuteActivity(ctx workflow.Context, activityType string, args ...any) workflow.Future {
	if activityType == workflowv1.PerformActivity {
		o.told.options = append(o.told.options, workflow.GetActivityOptions(ctx))
	}
	return o.Next.ExecuteActivity(ctx, activityType, args...)
}

// M-21: the server drives the retries by the native approximation, but never those of
// an attempt whose process was lost, which the workflow counts and times; after such a
// loss an occurrence has the attempts that are left (M-26). A slow action has failed
// before its attempt counts as lost (M-37).
func TestWhatTheServerIsToldOfPerform(t *testing.T) {
	t.Parallel()
	w, rec := newWorld(t), &told{}
	w.env.SetWorkerOptions(worker.Options{Interceptors: append(workflows.Interceptors(), rec)})
	w.take = func(a *attempt) bool {
		a.lose(time.Second, nil)
		return true
	}
	spec := once(t1(2))
	w.finish(state(spec))

	require.Len(t, rec.options, 3)
	for i, o := range rec.options {
		require.EqualValues(t, 3-i, o.RetryPolicy.MaximumAttempts)
		require.Equal(t, 2*time.Second, o.RetryPolicy.InitialInterval)
		require.Equal(t, time.Minute, o.RetryPolicy.MaximumInterval)
		require.InDelta(t, 2, o.RetryPolicy.BackoffCoefficient, 0)
		require.Subset(t, o.RetryPolicy.NonRetryableErrorTypes, []string{
			"TemporalTimeout:Heartbeat", "TemporalTimeout:StartToClose", "PanicError",
			workflowv1.FailureFinal, workflowv1.FailureHeld, workflowv1.FailureSuperseded,
		})
		require.NotContains(t, o.RetryPolicy.NonRetryableErrorTypes, workflowv1.FailureFailed)
		require.GreaterOrEqual(t, o.StartToCloseTimeout, action.PerformTimeout(spec.GetAction())+30*time.Second)
		require.Equal(t, 10*time.Second, o.HeartbeatTimeout)
		require.Zero(t, o.ScheduleToCloseTimeout, "no limit but the budget and the deadline")
	}
}

// M-22: a policy that Temporal would refuse, and stall the workflow by, never reaches
// it.
func TestServerIsToldNoPolicyItRefuses(t *testing.T) {
	t.Parallel()
	for _, backOff := range []float64{0, 0.5, 1e300} {
		p := t1(1)
		p.RestartPeriodBackOff = backOff
		w, rec := newWorld(t), &told{}
		w.env.SetWorkerOptions(worker.Options{Interceptors: append(workflows.Interceptors(), rec)})
		w.finish(state(once(p)))
		policy := rec.options[0].RetryPolicy
		require.GreaterOrEqual(t, policy.BackoffCoefficient, 1.0)
		require.GreaterOrEqual(t, policy.MaximumInterval, policy.InitialInterval)
		require.NotEqual(t, temporal.RetryPolicy{}, *policy)
	}
}
