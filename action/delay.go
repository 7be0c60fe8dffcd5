package action

import (
	"math"
	"math/big"
	"time"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// Delay returns how long after a failure the next attempt begins (seed 000,
// RetryPolicy; M-17):
//
//	min(MaxRestartPeriod, MinRestartPeriod + RestartPeriodScale * RestartPeriodBackOff^c)
//
// where c is the number of failures in a row before the one that is being retried,
// so 0 for the first retry (M-24; table T1).
//
// The result is that of real arithmetic, rounded to the nearest nanosecond, for
// every c and the same on every processor. 0^0 is 1; a sum beyond all bounds is
// the maximum (M-18). For a valid policy it lies in [Min, Max] and does not fall
// as c grows where BackOff >= 1.
//
// A nil policy is the default one, 1 s. What validation refuses is read as follows:
// negative durations and a negative back off as 0, a back off that is not a number
// as one that grows beyond all bounds, Max below Min as Max.
func Delay(p *gnomonv1.RetryPolicy, c uint64) time.Duration {
	if p == nil {
		return MinRestartPeriod
	}
	scale, least, most := periods(p)
	if scale == 0 || least >= most {
		return min(least, most)
	}
	backOff := p.GetRestartPeriodBackOff()
	switch {
	case math.IsNaN(backOff):
		return most
	case c == 0 || backOff == 1:
		return min(most, least+scale)
	case backOff <= 0:
		return least
	case math.IsInf(backOff, 1):
		return most
	}
	return least + min(most-least, product(scale, backOff, c, most-least))
}

// periods reads the durations of a policy, saturated to [0, MaxDuration], so that two
// of them can be added.
func periods(p *gnomonv1.RetryPolicy) (scale, least, most time.Duration) {
	clamp := func(d time.Duration) time.Duration { return min(max(d, 0), MaxDuration) }
	return clamp(p.GetRestartPeriodScale().AsDuration()),
		clamp(p.GetMinRestartPeriod().AsDuration()),
		clamp(p.GetMaxRestartPeriod().AsDuration())
}

// precision is in bits. A power takes at most 128 multiplications, each of which
// costs about one bit of the last place; 64 bits hold the nanoseconds. What is left
// makes the rounding of a result that is not a tie to hundreds of bits exact.
const precision = 256

// product returns scale * base^c to the nearest nanosecond, at most limit. Base is
// finite and above 0. Floats of the processor would do for small c, but differ in
// the last place between processors and turn negative on overflow.
func product(scale time.Duration, base float64, c uint64, limit time.Duration) time.Duration {
	result := new(big.Float).SetPrec(precision).SetInt64(int64(scale))
	square := new(big.Float).SetPrec(precision).SetFloat64(base)
	// All factors are on one side of 1, so a partial product never comes back from
	// beyond the limit or from below half a nanosecond.
	for ; c > 0; c >>= 1 {
		if c&1 == 1 {
			result.Mul(result, square)
		}
		square.Mul(square, square)
		if base > 1 && exceeds(result, limit) {
			return limit
		}
	}
	if exceeds(result, limit) {
		return limit
	}
	ns, _ := result.Add(result, big.NewFloat(0.5)).Int64()
	return min(time.Duration(ns), limit)
}

func exceeds(f *big.Float, limit time.Duration) bool {
	return f.Cmp(new(big.Float).SetInt64(int64(limit))) > 0
}
