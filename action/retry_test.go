package action_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"pgregory.net/rapid"

	"gnomon/action"
	gnomonv1 "gnomon/api/gnomon/v1"
)

// M-19: defaults hold for an absent message.
func TestRetryPolicyDefaults(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]*gnomonv1.Spec{
		"nil":      nil,
		"empty":    {},
		"once":     once(start),
		"period":   periodic(start, time.Second),
		"calendar": byCalendar(start, "* * * * *", ""),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := action.RetryPolicy(s)
			require.NotNil(t, p)
			require.Zero(t, p.GetMaxRetries())
			require.Zero(t, p.GetRestartPeriodScale().AsDuration())
			require.Zero(t, p.GetRestartPeriodBackOff())
			require.Equal(t, time.Second, p.GetMinRestartPeriod().AsDuration())
			require.Equal(t, time.Second, p.GetMaxRestartPeriod().AsDuration())
		})
	}
}

// M-20: nothing is filled into a message that is there.
func TestRetryPolicyGivenIsTaken(t *testing.T) {
	t.Parallel()
	p := &gnomonv1.RetryPolicy{MaxRetries: 7}
	a, b, c := once(start), periodic(start, time.Second), byCalendar(start, "* * * * *", "")
	a.SendPolicy.GetSendOncePolicy().RetryPolicy = p
	b.SendPolicy.GetSendPeriodicallyPolicy().RetryPolicy = p
	c.SendPolicy.GetSendByCalendarPolicy().RetryPolicy = p
	for _, s := range []*gnomonv1.Spec{a, b, c} {
		require.Same(t, p, action.RetryPolicy(s))
	}
	require.True(t, proto.Equal(&gnomonv1.RetryPolicy{MaxRetries: 7}, p), "it was not changed")
}

// M-21, M-23
func TestMaxAttemptsIsNeverUnlimited(t *testing.T) {
	t.Parallel()
	for retries, want := range map[uint32]uint32{
		0:                 1,
		1:                 2,
		5:                 6,
		math.MaxInt32 - 1: math.MaxInt32,
		math.MaxInt32:     math.MaxInt32,
		math.MaxUint32:    math.MaxInt32,
	} {
		require.Equal(t, want, action.MaxAttempts(&gnomonv1.RetryPolicy{MaxRetries: retries}), "%d retries", retries)
	}
	require.EqualValues(t, 1, action.MaxAttempts(nil))
}

// M-21: initial = delay(0), coefficient = max(1, back off), maximum = max period.
func TestNativeRetryApproximates(t *testing.T) {
	t.Parallel()
	const s = time.Second
	for backOff, coefficient := range map[float64]float64{0: 1, 0.5: 1, 1: 1, 2: 2, 2.5: 2.5} {
		p := policy(s, 60*s, s, backOff)
		initial, maximum, got, attempts := action.NativeRetry(p)
		require.Equal(t, 2*s, initial)
		require.Equal(t, 60*s, maximum)
		require.InDelta(t, coefficient, got, 0)
		require.EqualValues(t, 4, attempts)
	}
}

// M-22: the checks of Temporal's server on an activity's retry policy, for any bits.
func TestNativeRetryIsAlwaysAccepted(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		d := func(label string) *durationpb.Duration {
			return rapid.Custom(func(t *rapid.T) *durationpb.Duration {
				return &durationpb.Duration{Seconds: rapid.Int64().Draw(t, "s"), Nanos: rapid.Int32().Draw(t, "ns")}
			}).Draw(t, label)
		}
		p := &gnomonv1.RetryPolicy{
			MaxRetries:           rapid.Uint32().Draw(t, "retries"),
			RestartPeriodScale:   d("scale"),
			RestartPeriodBackOff: rapid.OneOf(rapid.SampledFrom([]float64{0, 0.5, math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64}), rapid.Float64()).Draw(t, "back off"),
			MinRestartPeriod:     d("min"),
			MaxRestartPeriod:     d("max"),
		}
		initial, maximum, coefficient, attempts := action.NativeRetry(p)
		require.GreaterOrEqual(t, initial, time.Second)
		require.GreaterOrEqual(t, maximum, initial)
		require.LessOrEqual(t, maximum, action.MaxDuration)
		require.GreaterOrEqual(t, coefficient, 1.0)
		require.False(t, math.IsInf(coefficient, 0))
		require.GreaterOrEqual(t, attempts, int32(1))
	})
	_, _, _, attempts := action.NativeRetry(nil)
	require.EqualValues(t, 1, attempts)
}
