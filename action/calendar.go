package action

import (
	"errors"
	"fmt"
	"math/bits"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
)

// calendar finds the moments of a cron expression in a time zone.
//
// The expression speaks of wall clock time. Each wall clock minute that matches
// has one occurrence: the first moment at which clocks show it. A minute that
// daylight saving skips has none. So an expression for every hour or minute rests
// while clocks show an hour for the second time. This is why only the parser of robfig/cron is
// used: its Next performs a doubled minute twice.
type calendar struct {
	minute, hour, dom, month, dow uint64
	// A day must match both of its fields where one of them is a star; else one is
	// enough, as in every cron.
	bothDays bool
	zone     *time.Location
}

// calendarHorizon is, in years, how far a next match is looked for. The rarest
// expression that matches at all, 29 February, waits 8 years around 2100.
const calendarHorizon = 10

// maxOffset is beyond every distance from UTC, of past or present.
const maxOffset = 26 * time.Hour

var descriptors = map[string]string{
	"@hourly":  "0 * * * *",
	"@daily":   "0 0 * * *",
	"@weekly":  "0 0 * * 0",
	"@monthly": "0 0 1 * *",
	"@yearly":  "0 0 1 1 *",
}

// parseCalendar reads an expression of five fields or a descriptor. Errors are
// sentences about the expression that do not name the field it came from.
func parseCalendar(expression, zone string) (*calendar, error) {
	loc, err := Location(zone)
	if err != nil {
		return nil, err
	}
	s, err := parseCron(expression)
	if err != nil {
		return nil, err
	}
	const star = 1 << 63 // cron.starBit
	return &calendar{
		minute:   s.Minute &^ star,
		hour:     s.Hour &^ star,
		dom:      s.Dom &^ star,
		month:    s.Month &^ star,
		dow:      s.Dow &^ star,
		bothDays: s.Dom&star != 0 || s.Dow&star != 0,
		zone:     loc,
	}, nil
}

func parseCron(expression string) (*cron.SpecSchedule, error) {
	if len(expression) > MaxCronLength {
		return nil, fmt.Errorf("is longer than %d bytes", MaxCronLength)
	}
	fields := strings.TrimSpace(expression)
	if five, ok := descriptors[fields]; ok {
		fields = five
	}
	// The parser reads more than the contract allows: @every, and a zone in front of
	// the fields, for which it would ask the system.
	if strings.ContainsAny(fields, "@=") {
		return nil, errors.New("must have five fields or be one of @hourly, @daily, @weekly, @monthly, @yearly")
	}
	// It also passes over what it does not understand: empty parts of a list, and
	// whatever follows "*-".
	for field := range strings.FieldsSeq(fields) {
		for part := range strings.SplitSeq(field, ",") {
			if part == "" || part[0] == '?' || strings.HasPrefix(part, "*-") {
				return nil, fmt.Errorf("has the part %q, which means nothing", part)
			}
		}
	}
	parser := cron.NewParser(cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow)
	s, err := parser.Parse(fields)
	if err != nil {
		return nil, fmt.Errorf("cannot be read: %w", err)
	}
	schedule, ok := s.(*cron.SpecSchedule)
	if !ok {
		return nil, errors.New("cannot be read as five fields")
	}
	return schedule, nil
}

// next returns the first occurrence after the given moment, in UTC, and whether
// there is one within the horizon and before the year 10000.
func (c *calendar) next(after time.Time) (time.Time, bool) {
	wall := wallMinute(after, c.zone)
	until := wall.AddDate(calendarHorizon, 0, 0)
	for {
		match, ok := c.wallAtOrAfter(wall, until)
		if !ok {
			return time.Time{}, false
		}
		if t, ok := firstShown(match, c.zone); ok && t.After(after) {
			return t, !t.After(maxTime)
		}
		wall = match.Add(time.Minute)
	}
}

// previous returns the last occurrence that is not after at and after since.
func (c *calendar) previous(at, since time.Time) (time.Time, bool) {
	// While clocks show an hour for the second time, they have shown later minutes
	// already: up to where they would be had they not been turned back.
	wall := wallMinute(at, c.zone)
	for _, offset := range offsetsAround(at, c.zone) {
		wall = latest(wall, at.UTC().Add(offset).Truncate(time.Minute))
	}
	until := wallMinute(since, c.zone)
	for {
		match, ok := c.wallAtOrBefore(wall, until)
		if !ok {
			return time.Time{}, false
		}
		if t, ok := firstShown(match, c.zone); ok && !t.After(at) {
			return t, t.After(since)
		}
		wall = match.Add(-time.Minute)
	}
}

// wallAtOrAfter returns the first wall clock minute from the given one that
// matches. Wall clock time is held as if it were UTC.
func (c *calendar) wallAtOrAfter(wall, until time.Time) (time.Time, bool) {
	for !wall.After(until) {
		year, month, day := wall.Date()
		if c.month&(1<<month) == 0 {
			wall = time.Date(year, month+1, 1, 0, 0, 0, 0, time.UTC)
			continue
		}
		midnight := time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
		if c.matchesDay(wall) {
			if hour, minute, ok := c.clockFrom(wall.Hour(), wall.Minute()); ok {
				return midnight.Add(clock(hour, minute)), true
			}
		}
		wall = midnight.AddDate(0, 0, 1)
	}
	return time.Time{}, false
}

// wallAtOrBefore is wallAtOrAfter backwards. It is asked for short spans only, so it
// does not skip months.
func (c *calendar) wallAtOrBefore(wall, until time.Time) (time.Time, bool) {
	for !wall.Before(until) {
		midnight := wall.Truncate(24 * time.Hour)
		if c.matchesDay(wall) {
			if hour, minute, ok := c.clockTo(wall.Hour(), wall.Minute()); ok {
				return midnight.Add(clock(hour, minute)), true
			}
		}
		wall = midnight.Add(-time.Minute)
	}
	return time.Time{}, false
}

func (c *calendar) matchesDay(wall time.Time) bool {
	if c.month&(1<<wall.Month()) == 0 {
		return false
	}
	dom, dow := c.dom&(1<<wall.Day()) != 0, c.dow&(1<<wall.Weekday()) != 0
	if c.bothDays {
		return dom && dow
	}
	return dom || dow
}

// clockFrom returns the first time of day that matches, not before the given one.
func (c *calendar) clockFrom(hour, minute int) (int, int, bool) {
	if m := c.minute >> minute << minute; c.hour&(1<<hour) != 0 && m != 0 {
		return hour, bits.TrailingZeros64(m), true
	}
	h := c.hour >> (hour + 1) << (hour + 1)
	if h == 0 || c.minute == 0 {
		return 0, 0, false
	}
	return bits.TrailingZeros64(h), bits.TrailingZeros64(c.minute), true
}

// clockTo returns the last time of day that matches, not after the given one.
func (c *calendar) clockTo(hour, minute int) (int, int, bool) {
	if m := c.minute & (1<<(minute+1) - 1); c.hour&(1<<hour) != 0 && m != 0 {
		return hour, bits.Len64(m) - 1, true
	}
	h := c.hour & (1<<hour - 1)
	if h == 0 || c.minute == 0 {
		return 0, 0, false
	}
	return bits.Len64(h) - 1, bits.Len64(c.minute) - 1, true
}

func clock(hour, minute int) time.Duration {
	return time.Duration(hour)*time.Hour + time.Duration(minute)*time.Minute
}

// wallMinute returns what clocks in the zone show, seconds dropped, as if it were
// UTC.
func wallMinute(t time.Time, zone *time.Location) time.Time {
	t = t.In(zone)
	return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), 0, 0, time.UTC)
}

// firstShown returns the first moment, in UTC, at which clocks in the zone show the
// given wall clock time, and whether they ever do. time.Date does not promise which
// of two moments it returns.
func firstShown(wall time.Time, zone *time.Location) (time.Time, bool) {
	var first time.Time
	found := false
	for _, offset := range offsetsAround(wall, zone) {
		shown := wall.Add(-offset)
		if offsetAt(shown, zone) == offset && (!found || shown.Before(first)) {
			first, found = shown, true
		}
	}
	return first, found
}

// offsetsAround returns the zone's distances from UTC around a moment. Where clocks
// change, those before and after are among them, as no zone changes its clocks back
// within hours. (Time.ZoneBounds would tell the changes, but is wrong on the last day
// of a leap year.)
func offsetsAround(at time.Time, zone *time.Location) [5]time.Duration {
	return [...]time.Duration{
		offsetAt(at.Add(-maxOffset), zone),
		offsetAt(at.Add(-maxOffset/2), zone),
		offsetAt(at, zone),
		offsetAt(at.Add(maxOffset/2), zone),
		offsetAt(at.Add(maxOffset), zone),
	}
}

func offsetAt(at time.Time, zone *time.Location) time.Duration {
	_, seconds := at.In(zone).Zone()
	return time.Duration(seconds) * time.Second
}
