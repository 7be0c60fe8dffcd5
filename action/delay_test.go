package action_test

import (
	"math"
	"math/big"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/durationpb"
	"pgregory.net/rapid"

	"gnomon/action"
	gnomonv1 "gnomon/api/gnomon/v1"
)

func policy(least, most, scale time.Duration, backOff float64) *gnomonv1.RetryPolicy {
	return &gnomonv1.RetryPolicy{
		MaxRetries:           3,
		RestartPeriodScale:   durationpb.New(scale),
		RestartPeriodBackOff: backOff,
		MinRestartPeriod:     durationpb.New(least),
		MaxRestartPeriod:     durationpb.New(most),
	}
}

func delays(p *gnomonv1.RetryPolicy, n uint64) []time.Duration {
	var all []time.Duration
	for c := range n {
		all = append(all, action.Delay(p, c))
	}
	return all
}

// M-17, M-24: table T1 of the requirements.
func TestDelayIsThatOfTableT1(t *testing.T) {
	t.Parallel()
	const s = time.Second
	want := []time.Duration{2 * s, 3 * s, 5 * s, 9 * s, 17 * s, 33 * s, 60 * s, 60 * s, 60 * s}
	require.Equal(t, want, delays(policy(s, 60*s, s, 2), 9))

	var sum time.Duration
	for _, d := range want {
		sum += d
	}
	require.Equal(t, 249*s, sum, "the table's own sum")
}

// M-17, M-18, M-19: the lines below table T1, and the hazards of the power.
func TestDelayOfOtherPolicies(t *testing.T) {
	t.Parallel()
	const (
		s  = time.Second
		ms = time.Millisecond
	)
	for name, c := range map[string]struct {
		policy *gnomonv1.RetryPolicy
		want   []time.Duration
	}{
		"nil":                             {nil, []time.Duration{s, s, s, s}},
		"the default":                     {action.RetryPolicy(nil), []time.Duration{s, s, s, s}},
		"back off 0: 0^0 is 1":            {policy(s, 60*s, s, 0), []time.Duration{2 * s, s, s, s}},
		"back off -0":                     {policy(s, 60*s, s, math.Copysign(0, -1)), []time.Duration{2 * s, s, s}},
		"back off 1":                      {policy(s, 60*s, s, 1), []time.Duration{2 * s, 2 * s, 2 * s}},
		"back off 0.5 shrinks":            {policy(s, 60*s, s, 0.5), []time.Duration{2 * s, 1500 * ms, 1250 * ms, 1125 * ms}},
		"back off 3":                      {policy(5*s, 60*s, 5*s, 3), []time.Duration{10 * s, 20 * s, 50 * s, 60 * s, 60 * s}},
		"scale 0 with infinite growth":    {policy(3*s, 60*s, 0, math.MaxFloat64), []time.Duration{3 * s, 3 * s, 3 * s}},
		"scale 0, minimum is maximum":     {policy(3*s, 3*s, 0, 2), []time.Duration{3 * s, 3 * s}},
		"huge back off":                   {policy(s, 60*s, s, math.MaxFloat64), []time.Duration{2 * s, 60 * s, 60 * s}},
		"tiny back off":                   {policy(s, 60*s, s, math.SmallestNonzeroFloat64), []time.Duration{2 * s, s, s}},
		"longest durations do not wrap":   {policy(action.MaxDuration, action.MaxDuration, action.MaxDuration, 2), []time.Duration{action.MaxDuration, action.MaxDuration}},
		"sum above the maximum":           {policy(s, 60*s, action.MaxDuration, 1), []time.Duration{60 * s, 60 * s}},
		"tenths are not cut":              {policy(s, 60*s, s, 0.7), []time.Duration{2 * s, 1700 * ms, 1490 * ms, 1343 * ms}},
		"half a nanosecond is rounded up": {policy(s, 60*s, 1, 0.5), []time.Duration{s + 1, s + 1, s}},
		// What follows is refused by Validate and must still do no harm.
		"not a number":       {policy(s, 60*s, s, math.NaN()), []time.Duration{60 * s, 60 * s}},
		"infinite":           {policy(s, 60*s, s, math.Inf(1)), []time.Duration{2 * s, 60 * s}},
		"negative back off":  {policy(s, 60*s, s, -2), []time.Duration{2 * s, s, s}},
		"negative scale":     {policy(s, 60*s, -s, 2), []time.Duration{s, s}},
		"maximum below":      {policy(5*s, s, s, 2), []time.Duration{s, s}},
		"beyond all numbers": {policy(s, math.MaxInt64, math.MaxInt64, 2), []time.Duration{action.MaxDuration, action.MaxDuration}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, delays(c.policy, uint64(len(c.want))))
		})
	}
}

// M-18: counters far beyond any real one end at the limit of the series.
func TestDelayOfHugeCounters(t *testing.T) {
	t.Parallel()
	for _, c := range []uint64{10_001, math.MaxUint32, math.MaxUint64} {
		require.Equal(t, time.Minute, action.Delay(policy(time.Second, time.Minute, 1, 1.5), c))
		require.Equal(t, time.Second, action.Delay(policy(time.Second, time.Minute, time.Second, 0.5), c))
		require.Equal(t, 2*time.Second, action.Delay(policy(time.Second, time.Minute, time.Second, 1), c))
	}
	// (1 + 2^-52)^(2^52) is e to 16 digits: the last place of the back off counts.
	p := policy(time.Second, time.Minute, time.Second, math.Nextafter(1, 2))
	require.Equal(t, time.Second+2718281828*time.Nanosecond, action.Delay(p, 1<<52))
}

// referenceDelay multiplies c times with more bits than any result needs.
type referenceDelay struct {
	power, factor *big.Float
	scale, least  *big.Float
	most          time.Duration
}

const referenceBits = 768

func reference(p *gnomonv1.RetryPolicy) *referenceDelay {
	f := func() *big.Float { return new(big.Float).SetPrec(referenceBits) }
	return &referenceDelay{
		power:  f().SetInt64(1),
		factor: f().SetFloat64(p.GetRestartPeriodBackOff()),
		scale:  f().SetInt64(int64(p.GetRestartPeriodScale().AsDuration())),
		least:  f().SetInt64(int64(p.GetMinRestartPeriod().AsDuration())),
		most:   p.GetMaxRestartPeriod().AsDuration(),
	}
}

// next returns the delay for the next c, from 0.
func (r *referenceDelay) next() time.Duration {
	f := func() *big.Float { return new(big.Float).SetPrec(referenceBits) }
	sum := f().Add(r.least, f().Mul(r.scale, r.power))
	if r.power.Cmp(big.NewFloat(1e300)) < 0 { // beyond, the maximum is reached for good
		r.power.Mul(r.power, r.factor)
	}
	if sum.Cmp(f().SetInt64(int64(r.most))) >= 0 {
		return r.most
	}
	ns, _ := sum.Add(sum, big.NewFloat(0.5)).Int64()
	return min(time.Duration(ns), r.most)
}

func drawPolicy(t *rapid.T) *gnomonv1.RetryPolicy {
	duration := func(least time.Duration, label string) time.Duration {
		most := rapid.SampledFrom([]time.Duration{time.Minute, 24 * time.Hour, action.MaxDuration}).Draw(t, label+" range")
		return time.Duration(rapid.Int64Range(int64(least), int64(max(most, least))).Draw(t, label))
	}
	least := duration(time.Second, "min")
	return policy(least, duration(least, "max"), duration(0, "scale"), rapid.OneOf(
		rapid.SampledFrom([]float64{0, 0.5, 0.99, 1, math.Nextafter(1, 2), math.Nextafter(1, 0), 1.0001, 1.1, 2, 3, 1e9, math.MaxFloat64}),
		rapid.Float64Range(0, 4),
		rapid.Float64Range(0.99, 1.01),
	).Draw(t, "back off"))
}

// checkDelays compares the delays with the formula for the counters up to 10,000 that
// are to be looked at: each within its bounds, none below the one before where they are
// to grow.
func checkDelays(t require.TestingT, p *gnomonv1.RetryPolicy, look func(c uint64) bool) {
	least, most := p.GetMinRestartPeriod().AsDuration(), p.GetMaxRestartPeriod().AsDuration()
	want := reference(p)
	before := time.Duration(0)
	for c := range uint64(10_001) {
		exact := want.next()
		if !look(c) {
			continue
		}
		got := action.Delay(p, c)
		if got != exact || got < least || got > most {
			require.Failf(t, "wrong delay", "delay(%d) = %d, formula says %d, bounds %d to %d, %v", c, got, exact, least, most, p)
		}
		if p.GetRestartPeriodBackOff() >= 1 && got < before {
			require.Failf(t, "delay fell", "delay(%d) = %d is below %d, %v", c, got, before, p)
		}
		before = got
	}
}

// M-17, M-18: every counter up to 10,000, for the back offs that are prone to go wrong.
func TestDelayForEveryCounter(t *testing.T) {
	t.Parallel()
	for _, backOff := range []float64{0, 0.5, math.Nextafter(1, 0), 1, math.Nextafter(1, 2), 1.0007, 2, math.MaxFloat64} {
		t.Run(strconv.FormatFloat(backOff, 'g', -1, 64), func(t *testing.T) {
			t.Parallel()
			checkDelays(t, policy(time.Second, 24*time.Hour, time.Minute, backOff), func(uint64) bool { return true })
		})
	}
}

// M-17, M-18: the same for policies of any kind, at the first counters and at samples
// of the others.
func TestDelayForEveryPolicy(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		rest := rapid.Uint64Range(0, 96).Draw(t, "rest")
		checkDelays(t, drawPolicy(t), func(c uint64) bool { return c < 64 || c%97 == rest })
	})
}

// M-18: whatever the bits of a policy are, the delay is a duration that can be waited.
func TestDelayOfAnyBits(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		any64 := rapid.Int64()
		p := &gnomonv1.RetryPolicy{
			RestartPeriodScale:   &durationpb.Duration{Seconds: any64.Draw(t, "scale"), Nanos: rapid.Int32().Draw(t, "scale ns")},
			RestartPeriodBackOff: math.Float64frombits(rapid.Uint64().Draw(t, "back off")),
			MinRestartPeriod:     &durationpb.Duration{Seconds: any64.Draw(t, "min"), Nanos: rapid.Int32().Draw(t, "min ns")},
			MaxRestartPeriod:     &durationpb.Duration{Seconds: any64.Draw(t, "max"), Nanos: rapid.Int32().Draw(t, "max ns")},
		}
		d := action.Delay(p, rapid.Uint64().Draw(t, "c"))
		require.GreaterOrEqual(t, d, time.Duration(0))
		require.LessOrEqual(t, d, action.MaxDuration)
	})
}
