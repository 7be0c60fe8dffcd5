package model

import (
	"fmt"
	"math/big"
	"time"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// delay is M-17 in exact arithmetic, with the hazards of M-18 answered: 0^0 is 1. c
// counts the failures in a row before the one that is retried (M-24).
func delay(p *gnomonv1.RetryPolicy, c uint64) time.Duration {
	if p == nil {
		return time.Second // M-19
	}
	term := new(big.Rat).SetInt64(int64(p.GetRestartPeriodScale().AsDuration()))
	backOff := new(big.Rat).SetFloat64(p.GetRestartPeriodBackOff())
	for range c {
		term.Mul(term, backOff)
	}
	term.Add(term, new(big.Rat).SetInt64(int64(p.GetMinRestartPeriod().AsDuration())))
	greatest := p.GetMaxRestartPeriod().AsDuration()
	if term.Cmp(new(big.Rat).SetInt64(int64(greatest))) >= 0 {
		return greatest
	}
	whole, rest := new(big.Int).QuoRem(term.Num(), term.Denom(), new(big.Int))
	if rest.Lsh(rest, 1).Cmp(term.Denom()) >= 0 {
		whole.Add(whole, big.NewInt(1))
	}
	return time.Duration(whole.Int64())
}

// attempts is the most that one occurrence may have, interrupted ones included
// (M-23, M-26).
func attempts(p *gnomonv1.RetryPolicy) uint64 { return 1 + uint64(p.GetMaxRetries()) }

func retryPolicy(s *gnomonv1.Spec) *gnomonv1.RetryPolicy {
	p := s.GetSendPolicy()
	switch {
	case p.GetSendPeriodicallyPolicy() != nil:
		return p.GetSendPeriodicallyPolicy().GetRetryPolicy()
	case p.GetSendByCalendarPolicy() != nil:
		return p.GetSendByCalendarPolicy().GetRetryPolicy()
	}
	return p.GetSendOncePolicy().GetRetryPolicy()
}

// once: until the first success, not again and again.
func once(s *gnomonv1.Spec) bool { return s.GetSendPolicy().GetSendOncePolicy() != nil }

// deadline is false where there is none, which means infinity (M-14).
func deadline(s *gnomonv1.Spec) (time.Time, bool) {
	return s.GetSendPolicy().GetDeadline().AsTime(), s.GetSendPolicy().GetDeadline() != nil
}

// Spread says how much later than its tick an action is due. Only its properties are
// promised: a part of the jitter, always the same for the same id and tick.
type Spread func(id string, tick time.Time, jitter time.Duration) time.Duration

// first is when the action is due for the first time (M-10).
func (a *Action) first() time.Time {
	start := a.spec.GetStartPolicy().GetStartAt().AsTime()
	if once(a.spec) {
		return a.due(start, a.spec.GetStartPolicy().GetJitter().AsDuration())
	}
	return a.tickAfter(start.Add(-1))
}

// tickAfter is the first tick strictly after now, found by trying one after the
// other. What lies between was missed and is not made up for (M-29).
func (a *Action) tickAfter(now time.Time) time.Time {
	start, p := a.spec.GetStartPolicy().GetStartAt().AsTime(), a.spec.GetSendPolicy()
	jitter, step := a.spec.GetStartPolicy().GetJitter().AsDuration(), p.GetSendPeriodicallyPolicy().GetPeriod().AsDuration()
	tick := start
	if by := p.GetSendByCalendarPolicy(); by != nil {
		// Of the calendar this model knows only "every n minutes", n a divisor of 60.
		var n int
		if _, err := fmt.Sscanf(by.GetCron(), "*/%d * * * *", &n); err != nil || 60%n != 0 {
			panic("the model does not know the calendar " + by.GetCron())
		}
		step = time.Duration(n) * time.Minute
		for tick = start.Truncate(time.Minute); tick.Before(start) || tick.Minute()%n != 0; {
			tick = tick.Add(time.Minute)
		}
	}
	for !a.due(tick, jitter).After(now) {
		tick = tick.Add(step)
	}
	return a.due(tick, jitter)
}

func (a *Action) due(tick time.Time, jitter time.Duration) time.Time {
	later := a.spread(a.id, tick, jitter)
	if later < 0 || later > 0 && later >= jitter {
		panic("a due time is moved later by a part of the jitter")
	}
	return tick.Add(later)
}
