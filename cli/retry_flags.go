package cli

import (
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/types/known/durationpb"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// retryFlags say how far apart failed attempts are repeated (seed 000,
// RetryPolicy).
type retryFlags struct {
	maxRetries         uint32
	minDelay, maxDelay time.Duration
	scale              time.Duration
	backOff            float64
}

var retryFlagNames = []string{"max-retries", "min-delay", "max-delay", "scale", "back-off"}

// What a retry policy begins with once any of its flags is given: delays of 2 s,
// 3 s, 5 s, 9 s, 17 s (table T1 of the requirements).
const (
	defaultMaxRetries = 5
	defaultMinDelay   = time.Second
	defaultMaxDelay   = time.Minute
	defaultScale      = time.Second
	defaultBackOff    = 2
)

func (f *retryFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.Uint32Var(&f.maxRetries, "max-retries", defaultMaxRetries, "attempts after the first, none unless a retry flag is given")
	flags.DurationVar(&f.minDelay, "min-delay", defaultMinDelay, "least delay of a retry, at least 1s")
	flags.DurationVar(&f.maxDelay, "max-delay", defaultMaxDelay, "greatest delay of a retry")
	flags.DurationVar(&f.scale, "scale", defaultScale, "delay is min-delay + scale * back-off^failures")
	flags.Float64Var(&f.backOff, "back-off", defaultBackOff, "base of the power in the delay")
}

func (f *retryFlags) apply(cmd *cobra.Command, policy *gnomonv1.SendPolicy) error {
	if !anyChanged(cmd, retryFlagNames) {
		return nil
	}
	flags := cmd.Flags()
	retry := retryPolicy(policy)
	// A policy without retries says nothing about delays: the server fills one in
	// where there was none (M-19).
	fresh := retry.GetMaxRetries() == 0
	if fresh {
		retry = &gnomonv1.RetryPolicy{}
	}
	if fresh || flags.Changed("max-retries") {
		retry.MaxRetries = f.maxRetries
	}
	if fresh || flags.Changed("scale") {
		retry.RestartPeriodScale = durationpb.New(f.scale)
	}
	if fresh || flags.Changed("back-off") {
		retry.RestartPeriodBackOff = f.backOff
	}
	if fresh || flags.Changed("min-delay") {
		retry.MinRestartPeriod = durationpb.New(f.minDelay)
	}
	if fresh || flags.Changed("max-delay") {
		retry.MaxRestartPeriod = durationpb.New(f.maxDelay)
	}
	// A least delay above the greatest was meant to raise both, unless both were given.
	if least := retry.GetMinRestartPeriod(); !flags.Changed("max-delay") && least.AsDuration() > retry.GetMaxRestartPeriod().AsDuration() {
		retry.MaxRestartPeriod = durationpb.New(least.AsDuration())
	}
	setRetryPolicy(policy, retry)
	return nil
}

func retryPolicy(policy *gnomonv1.SendPolicy) *gnomonv1.RetryPolicy {
	switch p := policy.GetPolicy().(type) {
	case *gnomonv1.SendPolicy_SendOncePolicy:
		return p.SendOncePolicy.GetRetryPolicy()
	case *gnomonv1.SendPolicy_SendPeriodicallyPolicy:
		return p.SendPeriodicallyPolicy.GetRetryPolicy()
	case *gnomonv1.SendPolicy_SendByCalendarPolicy:
		return p.SendByCalendarPolicy.GetRetryPolicy()
	default:
		return nil
	}
}

func setRetryPolicy(policy *gnomonv1.SendPolicy, retry *gnomonv1.RetryPolicy) {
	switch p := policy.GetPolicy().(type) {
	case *gnomonv1.SendPolicy_SendOncePolicy:
		p.SendOncePolicy.RetryPolicy = retry
	case *gnomonv1.SendPolicy_SendPeriodicallyPolicy:
		p.SendPeriodicallyPolicy.RetryPolicy = retry
	case *gnomonv1.SendPolicy_SendByCalendarPolicy:
		p.SendByCalendarPolicy.RetryPolicy = retry
	}
}
