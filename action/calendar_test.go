package action_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/robfig/cron/v3"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"gnomon/action"
)

func utc(t *testing.T, s string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, s)
	require.NoError(t, err)
	return at.UTC()
}

// The contract of SendByCalendarPolicy: a local time that daylight saving skips has no
// occurrence; one that comes twice has one, the first.
func TestCalendarAcrossDaylightSaving(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		cron, zone, from string
		want             []string
	}{
		"skipped in Amsterdam": {"30 2 * * *", "Europe/Amsterdam", "2026-03-28T00:00:00Z", []string{
			"2026-03-28T01:30:00Z", "2026-03-30T00:30:00Z",
		}},
		"doubled in Amsterdam": {"30 2 * * *", "Europe/Amsterdam", "2026-10-24T12:00:00Z", []string{
			"2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z",
		}},
		"from within the first pass": {"30 2 * * *", "Europe/Amsterdam", "2026-10-25T00:31:00Z", []string{"2026-10-26T01:30:00Z"}},
		"from within the second":     {"30 2 * * *", "Europe/Amsterdam", "2026-10-25T01:10:00Z", []string{"2026-10-26T01:30:00Z"}},
		"hours when one is doubled": {"0 * * * *", "Europe/Amsterdam", "2026-10-24T23:00:00Z", []string{
			"2026-10-24T23:00:00Z", "2026-10-25T00:00:00Z", "2026-10-25T02:00:00Z",
		}},
		"hours when one is skipped": {"0 * * * *", "Europe/Amsterdam", "2026-03-29T00:00:00Z", []string{
			"2026-03-29T00:00:00Z", "2026-03-29T01:00:00Z",
		}},
		"midnight that is skipped, Cairo": {"0 0 * * *", "Africa/Cairo", "2026-04-23T00:00:00Z", []string{
			"2026-04-24T21:00:00Z", "2026-04-25T21:00:00Z",
		}},
		"midnight that is doubled, Havana": {"30 0 * * *", "America/Havana", "2026-11-01T00:00:00Z", []string{
			"2026-11-01T04:30:00Z", "2026-11-02T05:30:00Z",
		}},
		"half an hour, Lord Howe": {"15,45 2 * * *", "Australia/Lord_Howe", "2026-10-03T12:00:00Z", []string{
			"2026-10-03T15:45:00Z", "2026-10-04T15:15:00Z",
		}},
		"the day Samoa skipped": {"0 12 * * *", "Pacific/Apia", "2011-12-29T12:00:00Z", []string{
			"2011-12-29T22:00:00Z", "2011-12-30T22:00:00Z",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := byCalendar(utc(t, c.from), c.cron, c.zone)
			var got []string
			for _, due := range action.Preview(s, "a", time.Time{}, len(c.want)) {
				got = append(got, due.Format(time.RFC3339))
			}
			require.Equal(t, c.want, got)
		})
	}
}

// Why only the library's parser is used: its Next performs a doubled time twice.
func TestLibraryDoublesALocalTime(t *testing.T) {
	t.Parallel()
	zone, err := action.Location("Europe/Amsterdam")
	require.NoError(t, err)
	schedule, err := cron.ParseStandard("30 2 * * *")
	require.NoError(t, err)
	first := schedule.Next(utc(t, "2026-10-24T12:00:00Z").In(zone))
	second := schedule.Next(first)
	require.Equal(t, time.Hour, second.Sub(first))
}

func TestCalendarExpressions(t *testing.T) {
	t.Parallel()
	const from = "2026-11-21T10:00:00Z" // a Saturday
	for expression, want := range map[string]string{
		"@hourly":          "2026-11-21T10:00:00Z",
		"@daily":           "2026-11-22T00:00:00Z",
		"@weekly":          "2026-11-22T00:00:00Z",
		"@monthly":         "2026-12-01T00:00:00Z",
		"@yearly":          "2027-01-01T00:00:00Z",
		" 0 12 * * * ":     "2026-11-21T12:00:00Z",
		"5/20 * * * *":     "2026-11-21T10:05:00Z",
		"1-59/29 * * * *":  "2026-11-21T10:01:00Z",
		"0 9 * * mon-FRI":  "2026-11-23T09:00:00Z",
		"0 0 1 JAN *":      "2027-01-01T00:00:00Z",
		"0 0 29 2 *":       "2028-02-29T00:00:00Z",
		"0 0 31 * *":       "2026-12-31T00:00:00Z",
		"0 0 13 * fri":     "2026-11-27T00:00:00Z", // either field is enough
		"0 0 * * fri":      "2026-11-27T00:00:00Z",
		"59 23 31 12 *":    "2026-12-31T23:59:00Z",
		"0 8,18 * * *":     "2026-11-21T18:00:00Z",
		"0 0 1 1,4,7,10 *": "2027-01-01T00:00:00Z",
	} {
		t.Run(expression, func(t *testing.T) {
			t.Parallel()
			due, ok := action.FirstDue(byCalendar(utc(t, from), expression, ""), "a")
			require.True(t, ok)
			require.Equal(t, utc(t, want), due)
		})
	}
}

// Time.ZoneBounds ends before it begins on the last day of a leap year; a search that
// trusted it never ended, and took the workflow's worker with it.
func TestCalendarOnTheLastDayOfALeapYear(t *testing.T) {
	t.Parallel()
	from := utc(t, "2028-12-31T00:00:00Z")
	for _, zone := range restlessZones {
		s := byCalendar(from, "*/5 * * * *", zone)
		for i, due := range action.Preview(s, "a", time.Time{}, 2*24*12) {
			require.Equal(t, from.Add(time.Duration(i)*5*time.Minute), due, zone)
		}
	}
}

// The rarest expression: 29 February is 8 years apart around 2100.
func TestCalendarCrossesACenturyWithoutLeapDay(t *testing.T) {
	t.Parallel()
	due, ok := action.NextDue(byCalendar(start, "0 0 29 2 *", ""), "a", utc(t, "2096-02-29T00:00:00Z"))
	require.True(t, ok)
	require.Equal(t, utc(t, "2104-02-29T00:00:00Z"), due)
}

// field is one field of a cron expression with its meaning.
type field struct {
	text string
	has  func(int) bool
	star bool
}

func drawField(t *rapid.T, label string, least, most int) field {
	switch rapid.IntRange(0, 3).Draw(t, label) {
	case 0:
		return field{"*", func(int) bool { return true }, true}
	case 1:
		step := rapid.IntRange(2, most-least).Draw(t, "step")
		return field{"*/" + strconv.Itoa(step), func(n int) bool { return (n-least)%step == 0 }, false}
	case 2:
		from := rapid.IntRange(least, most).Draw(t, "from")
		to := rapid.IntRange(from, most).Draw(t, "to")
		return field{fmt.Sprintf("%d-%d", from, to), func(n int) bool { return from <= n && n <= to }, false}
	}
	set := rapid.SliceOfNDistinct(rapid.IntRange(least, most), 1, 4, rapid.ID[int]).Draw(t, "set")
	var texts []string
	for _, n := range set {
		texts = append(texts, strconv.Itoa(n))
	}
	return field{strings.Join(texts, ","), func(n int) bool { return slices.Contains(set, n) }, false}
}

// drawCron returns an expression and, worked out apart from it, whether a local time
// matches.
func drawCron(t *rapid.T) (string, func(time.Time) bool) {
	minute, hour := drawField(t, "minute", 0, 59), drawField(t, "hour", 0, 23)
	dom, month, dow := drawField(t, "dom", 1, 31), drawField(t, "month", 1, 12), drawField(t, "dow", 0, 6)
	if rapid.Bool().Draw(t, "every month") { // most windows would be empty otherwise
		month = field{"*", func(int) bool { return true }, true}
	}
	expression := strings.Join([]string{minute.text, hour.text, dom.text, month.text, dow.text}, " ")
	return expression, func(local time.Time) bool {
		d, w := dom.has(local.Day()), dow.has(int(local.Weekday()))
		day := d || w
		if dom.star || dow.star {
			day = d && w
		}
		return day && minute.has(local.Minute()) && hour.has(local.Hour()) && month.has(int(local.Month()))
	}
}

// walk is the second implementation: it looks at every minute there is, and takes a
// local time the first time it sees it.
func walk(matches func(time.Time) bool, zone *time.Location, from, to time.Time) []time.Time {
	var found []time.Time
	seen := map[string]bool{}
	for at := from.Add(-48 * time.Hour); at.Before(to); at = at.Add(time.Minute) {
		local := at.In(zone)
		name := local.Format("2006-01-02 15:04")
		if !seen[name] && matches(local) && !at.Before(from) {
			found = append(found, at)
		}
		seen[name] = true
	}
	return found
}

var restlessZones = []string{
	"UTC", "Europe/Amsterdam", "Europe/London", "Europe/Dublin", "America/New_York", "America/Sao_Paulo",
	"America/St_Johns", "America/Havana", "America/Caracas", "Atlantic/Azores", "Africa/Cairo", "Africa/Casablanca",
	"Antarctica/Troll", "Antarctica/Casey", "Asia/Beirut", "Asia/Kathmandu", "Asia/Pyongyang", "Asia/Tehran",
	"Australia/Lord_Howe", "Pacific/Apia", "Pacific/Chatham", "Pacific/Easter", "America/Nuuk", "Asia/Gaza",
}

// drawWindow returns a zone and a few days, mostly around a change of its clocks.
func drawWindow(t *rapid.T) (name string, zone *time.Location, from, to time.Time) {
	name = rapid.SampledFrom(restlessZones).Draw(t, "zone")
	zone, err := action.Location(name)
	require.NoError(t, err)
	at := time.Unix(rapid.Int64Range(time.Date(2005, 1, 1, 0, 0, 0, 0, time.UTC).Unix(),
		time.Date(2090, 1, 1, 0, 0, 0, 0, time.UTC).Unix()).Draw(t, "at"), 0).UTC().Truncate(time.Minute)
	if rapid.IntRange(0, 9).Draw(t, "near a change") > 0 {
		if _, end := at.In(zone).ZoneBounds(); !end.IsZero() {
			at = end.UTC()
		}
	}
	from = at.Add(-time.Duration(rapid.IntRange(0, 36*60).Draw(t, "minutes before")) * time.Minute)
	return name, zone, from, from.Add(72 * time.Hour)
}

// Due times by the calendar are those of a walk over all minutes.
func TestCalendarAgreesWithAWalk(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		name, zone, from, to := drawWindow(t)
		expression, matches := drawCron(t)
		want := walk(matches, zone, from, to)
		s := until(byCalendar(from, expression, name), to.Add(-1))
		require.Equal(t, want, action.Preview(s, "a", time.Time{}, len(want)+1), "%s in %s from %s", expression, name, from)
	})
}

// With jitter each match has one due time, before the next match; it is found from
// every moment since the one before, in both passes of a doubled hour too.
func TestCalendarWithJitter(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		name, zone, from, to := drawWindow(t)
		expression, matches := drawCron(t)
		ticks := walk(matches, zone, from, to)
		jitter := time.Duration(rapid.Int64Range(1, int64(action.MaxJitter/time.Second)).Draw(t, "jitter")) * time.Second
		s := jittered(byCalendar(from, expression, name), jitter)

		before := from.Add(-time.Hour)
		for i, tick := range ticks {
			due, ok := action.NextDue(s, "a", before)
			require.True(t, ok)
			require.False(t, due.Before(tick))
			require.Less(t, due.Sub(tick), jitter)
			if i+1 < len(ticks) {
				require.True(t, due.Before(ticks[i+1]))
			}
			if i%10 == 0 {
				since := time.Duration(rapid.Int64Range(0, int64(due.Sub(before)-1)).Draw(t, "since"))
				again, _ := action.NextDue(s, "a", before.Add(since))
				require.Equal(t, due, again, "%s in %s from %s", expression, name, from)
			}
			before = due
		}
	})
}

// The parser of the library may be handed anything.
func FuzzCalendarNeverPanics(f *testing.F) {
	for _, s := range []string{"* * * * *", "@every 1s", "TZ=", "CRON_TZ=UTC * * * * *", "*/0 * * * *", "1-2-3 * * * *", "* * * * 7", "\x00"} {
		f.Add(s, "UTC")
	}
	f.Add("0 0 * * *", "../../etc/passwd")
	f.Fuzz(func(t *testing.T, expression, zone string) {
		s := byCalendar(start, expression, zone)
		due, ok := action.NextDue(s, "a", start)
		if !ok {
			return
		}
		require.True(t, due.After(start))
	})
}
