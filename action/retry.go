package action

import (
	"math"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// RetryPolicy returns the policy that holds for the spec: the one that was given,
// else the default of no retries, scale 0, back off 0 and both bounds 1 s
// (seed 000, RetryPolicy; M-19). Defaults hold only where the whole message is
// absent (M-20). It is never nil; a policy that was given is not copied.
func RetryPolicy(s *gnomonv1.Spec) *gnomonv1.RetryPolicy {
	if p := givenRetryPolicy(s); p != nil {
		return p
	}
	return defaultRetryPolicy()
}

func givenRetryPolicy(s *gnomonv1.Spec) *gnomonv1.RetryPolicy {
	switch p := s.GetSendPolicy().GetPolicy().(type) {
	case *gnomonv1.SendPolicy_SendOncePolicy:
		return p.SendOncePolicy.GetRetryPolicy()
	case *gnomonv1.SendPolicy_SendPeriodicallyPolicy:
		return p.SendPeriodicallyPolicy.GetRetryPolicy()
	case *gnomonv1.SendPolicy_SendByCalendarPolicy:
		return p.SendByCalendarPolicy.GetRetryPolicy()
	}
	return nil
}

func defaultRetryPolicy() *gnomonv1.RetryPolicy {
	return &gnomonv1.RetryPolicy{
		RestartPeriodScale: durationpb.New(0),
		MinRestartPeriod:   durationpb.New(MinRestartPeriod),
		MaxRestartPeriod:   durationpb.New(MinRestartPeriod),
	}
}

// MaxAttempts returns how many attempts an occurrence may have, 1 + MaxRetries
// (M-23), interrupted ones included (M-26). It is never 0, which Temporal would
// read as without limit, and at most math.MaxInt32, the most that Temporal can
// count (M-21). A nil policy allows one.
func MaxAttempts(p *gnomonv1.RetryPolicy) uint32 {
	return min(p.GetMaxRetries(), math.MaxInt32-1) + 1
}

// NativeRetry returns the nearest policy of Temporal's own shape, which grows a
// delay by a factor: initial = delay(0), coefficient = max(1, BackOff), maximum =
// MaxRestartPeriod, attempts = MaxAttempts (M-21). It is what the Web UI shows;
// attempts override it with the exact Delay.
//
// Whatever the policy, Temporal accepts the result (M-22): an initial interval of
// at least 1 s and not above the maximum, a finite coefficient of at least 1,
// attempts of at least 1. A policy that Temporal refuses would stall the workflow
// instead of failing it.
func NativeRetry(p *gnomonv1.RetryPolicy) (initial, maximum time.Duration, coefficient float64, attempts int32) {
	initial = max(Delay(p, 0), MinRestartPeriod)
	_, _, maximum = periods(p)
	maximum = max(maximum, initial)
	coefficient = p.GetRestartPeriodBackOff()
	if math.IsNaN(coefficient) || coefficient < 1 {
		coefficient = 1
	}
	// Above this the first retry is at the maximum already, and powers of it would
	// only overflow.
	coefficient = min(coefficient, maxCoefficient)
	return initial, maximum, coefficient, int32(MaxAttempts(p))
}

// maxCoefficient takes the least delay, 1 s, beyond the greatest.
const maxCoefficient = float64(MaxDuration/time.Second) + 1
