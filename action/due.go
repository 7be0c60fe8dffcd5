package action

import (
	"math/bits"
	"time"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// FirstDue returns when the action is due for the first time, in UTC: StartAt, or by
// the calendar the first match at or after it, moved later by its jitter (seed 000,
// StartPolicy; M-10). The deadline plays no part.
//
// It is false where there is no such time: StartAt is absent or invalid, the
// calendar cannot be read or has no match, or the time is after the year 9999. A
// send policy that is not set counts as once.
func FirstDue(s *gnomonv1.Spec, id string) (time.Time, bool) {
	start, ok := moment(s.GetStartPolicy().GetStartAt())
	if !ok {
		return time.Time{}, false
	}
	if Periodic(s) {
		return NextDue(s, id, start.Add(-1))
	}
	return within(start.Add(spread(id, start, jitter(s))))
}

// NextDue returns the first due time of a periodic action after the given moment, in
// UTC. It may lie any number of ticks after the one before, so that missed ticks
// collapse into one (M-29). The deadline plays no part.
//
// Ticks are StartAt + k*Period or the calendar's matches at or after StartAt; each is
// moved later by its jitter, which by the calendar never reaches the next match, so
// due times keep the order of their ticks. The cost does not depend on how many
// ticks were missed.
//
// It is false where there is no such time: the action is not periodic, and as in
// FirstDue.
func NextDue(s *gnomonv1.Spec, id string, after time.Time) (time.Time, bool) {
	start, ok := moment(s.GetStartPolicy().GetStartAt())
	if !ok {
		return time.Time{}, false
	}
	p := s.GetSendPolicy()
	if by := p.GetSendPeriodicallyPolicy(); by != nil {
		return nextPeriodic(start, by.GetPeriod().AsDuration(), jitter(s), id, after)
	}
	if by := p.GetSendByCalendarPolicy(); by != nil {
		c, err := parseCalendar(by.GetCron(), by.GetTimeZone())
		if err != nil {
			return time.Time{}, false
		}
		return nextByCalendar(c, start, jitter(s), id, after)
	}
	return time.Time{}, false
}

func jitter(s *gnomonv1.Spec) time.Duration {
	return min(max(s.GetStartPolicy().GetJitter().AsDuration(), 0), MaxJitter)
}

func nextPeriodic(start time.Time, period, jitter time.Duration, id string, after time.Time) (time.Time, bool) {
	if period < MinPeriod {
		return time.Time{}, false
	}
	tick := start
	if !after.Before(start) {
		tick = after.Add(-sinceTick(start, period, after))
	}
	due := tick.Add(spread(id, tick, min(jitter, period)))
	if !due.After(after) {
		tick = tick.Add(period)
		due = tick.Add(spread(id, tick, min(jitter, period)))
	}
	return within(due)
}

// sinceTick returns how long before the given moment, which is not before start, the
// last tick was: (after - start) modulo period, in 128 bits, since a time.Duration
// ends at 292 years.
func sinceTick(start time.Time, period time.Duration, after time.Time) time.Duration {
	seconds := after.Unix() - start.Unix()
	nanos := int64(after.Nanosecond() - start.Nanosecond())
	if nanos < 0 {
		seconds, nanos = seconds-1, nanos+int64(time.Second)
	}
	high, low := bits.Mul64(uint64(seconds), uint64(time.Second))
	low, carry := bits.Add64(low, uint64(nanos), 0)
	return time.Duration(bits.Rem64(high+carry, low, uint64(period)))
}

func nextByCalendar(c *calendar, start time.Time, jitter time.Duration, id string, after time.Time) (time.Time, bool) {
	next, ok := c.next(latest(after, start.Add(-1)))
	if jitter > 0 && !after.Before(start) {
		// The match before may be due only now.
		last, found := c.previous(after, after.Add(-jitter))
		if found && !last.Before(start) {
			if due := last.Add(spread(id, last, gap(last, next, ok, jitter))); due.After(after) {
				return within(due)
			}
		}
	}
	if !ok {
		return time.Time{}, false
	}
	if jitter > 0 {
		following, found := c.next(next)
		next = next.Add(spread(id, next, gap(next, following, found, jitter)))
	}
	return within(next)
}

// gap bounds the jitter of a tick by the distance to the next tick, if there is one.
func gap(tick, next time.Time, ok bool, jitter time.Duration) time.Duration {
	if !ok {
		return jitter
	}
	return min(jitter, next.Sub(tick))
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func within(t time.Time) (time.Time, bool) {
	if t.After(maxTime) {
		return time.Time{}, false
	}
	return t.UTC(), true
}
