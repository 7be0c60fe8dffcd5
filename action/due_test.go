package action_test

import (
	"math/big"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/timestamppb"
	"pgregory.net/rapid"

	"gnomon/action"
	gnomonv1 "gnomon/api/gnomon/v1"
)

// M-10
func TestFirstDueIsStartAt(t *testing.T) {
	t.Parallel()
	for _, s := range []*gnomonv1.Spec{
		once(start), periodic(start, time.Hour), byCalendar(start, "* * * * *", "UTC"),
		spec(start, nil), until(once(start), start.Add(-time.Hour)),
	} {
		due, ok := action.FirstDue(s, "a")
		require.True(t, ok)
		require.Equal(t, start, due)
	}
}

func TestFirstDueByCalendarIsTheFirstMatchFromStart(t *testing.T) {
	t.Parallel()
	for at, want := range map[time.Time]time.Time{
		start:                        start,
		start.Add(time.Microsecond):  start.Add(15 * time.Minute),
		start.Add(15 * time.Minute):  start.Add(15 * time.Minute),
		start.Add(-time.Microsecond): start,
	} {
		due, ok := action.FirstDue(byCalendar(at, "*/15 * * * *", ""), "a")
		require.True(t, ok)
		require.Equal(t, want, due)
	}
}

func TestNothingIsDueWithoutATime(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]*gnomonv1.Spec{
		"nil":               nil,
		"no start":          {SendPolicy: periodic(start, time.Hour).GetSendPolicy()},
		"invalid start":     {StartPolicy: &gnomonv1.StartPolicy{StartAt: &timestamppb.Timestamp{Nanos: -1}}},
		"no period":         periodic(start, 0),
		"negative period":   periodic(start, -time.Hour),
		"no cron":           byCalendar(start, "", ""),
		"no such zone":      byCalendar(start, "* * * * *", "Moon/Tycho"),
		"no such day":       byCalendar(start, "0 0 31 2 *", ""),
		"after year 9999":   periodic(time.Date(9999, 12, 31, 23, 0, 0, 0, time.UTC), time.Hour),
		"calendar of 10000": byCalendar(time.Date(9999, 12, 31, 23, 59, 0, 0, time.UTC), "* * * * *", ""),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, ok := action.NextDue(s, "a", time.Date(9999, 12, 31, 23, 59, 0, 0, time.UTC))
			require.False(t, ok)
		})
	}
}

// A once-action has one due time: the workflow must not find a second.
func TestNextDueIsForPeriodicActionsOnly(t *testing.T) {
	t.Parallel()
	_, ok := action.NextDue(once(start), "a", start.Add(-time.Hour))
	require.False(t, ok)
}

// M-29: fixed rate from StartAt, strictly after, missed ticks are one.
func TestNextDueOfAPeriod(t *testing.T) {
	t.Parallel()
	s := periodic(start, 10*time.Second)
	for after, want := range map[time.Duration]time.Duration{
		-time.Hour:                      0,
		-1:                              0,
		0:                               10 * time.Second,
		1:                               10 * time.Second,
		10*time.Second - 1:              10 * time.Second,
		10 * time.Second:                20 * time.Second,
		time.Hour:                       time.Hour + 10*time.Second,
		100*24*time.Hour + time.Second:  100*24*time.Hour + 10*time.Second,
		100*365*24*time.Hour + 9999_999: 100*365*24*time.Hour + 10*time.Second,
	} {
		due, ok := action.NextDue(s, "a", start.Add(after))
		require.True(t, ok)
		require.Equal(t, want, due.Sub(start), "after %s", after)
	}
}

// M-29: from the first to the last moment there is, in one step, as integers of any
// size say.
func TestNextDueOverHugeSpans(t *testing.T) {
	t.Parallel()
	const lastSecond = 253402300799
	ns := func(at time.Time) *big.Int {
		n := new(big.Int).Mul(big.NewInt(at.Unix()), big.NewInt(int64(time.Second)))
		return n.Add(n, big.NewInt(int64(at.Nanosecond())))
	}
	moment := rapid.Custom(func(t *rapid.T) time.Time {
		return time.Unix(rapid.Int64Range(-62135596800, lastSecond).Draw(t, "s"), rapid.Int64Range(0, 999_999_999).Draw(t, "ns")).UTC()
	})
	rapid.Check(t, func(t *rapid.T) {
		from, after := moment.Draw(t, "start"), moment.Draw(t, "after")
		period := time.Duration(rapid.Int64Range(int64(time.Second), int64(action.MaxDuration)).Draw(t, "period"))

		want := ns(from)
		if !after.Before(from) {
			p := big.NewInt(int64(period))
			k := new(big.Int).Div(new(big.Int).Sub(ns(after), ns(from)), p)
			want.Add(want, k.Add(k, big.NewInt(1)).Mul(k, p))
		}
		due, ok := action.NextDue(periodic(from, period), "a", after)
		limit := ns(time.Unix(lastSecond, 999_999_999))
		require.Equal(t, want.Cmp(limit) <= 0, ok)
		if ok {
			require.Zero(t, want.Cmp(ns(due)), "want %s, got %s", want, due)
			require.Equal(t, time.UTC, due.Location())
		}
	})
}

// M-29 with jitter: every tick has one due time, within the jitter, in whole
// microseconds; it is found from every moment since the one before; nothing else is.
func TestNextDueWithJitter(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		period := time.Duration(rapid.Int64Range(1_000_000, 10_000_000_000).Draw(t, "period")) * time.Microsecond
		jitter := time.Duration(rapid.Int64Range(0, int64(min(period, action.MaxJitter)/time.Microsecond)-1).Draw(t, "jitter")) * time.Microsecond
		id := rapid.String().Draw(t, "id")
		s := jittered(periodic(start, period), jitter)

		before := start.Add(-time.Hour)
		for k := range 50 {
			tick := start.Add(time.Duration(k) * period)
			due, ok := action.NextDue(s, id, before)
			require.True(t, ok)
			late := due.Sub(tick)
			require.GreaterOrEqual(t, late, time.Duration(0))
			require.LessOrEqual(t, late, max(0, jitter-time.Microsecond))
			require.Zero(t, due.Nanosecond()%1000)

			since := time.Duration(rapid.Int64Range(0, int64(due.Sub(before)-1)).Draw(t, "since"))
			again, _ := action.NextDue(s, id, before.Add(since))
			require.Equal(t, due, again)
			again, _ = action.NextDue(s, id, due.Add(-1))
			require.Equal(t, due, again)
			before = due
		}
		first, _ := action.FirstDue(s, id)
		fromNext, _ := action.NextDue(s, id, start.Add(-time.Hour))
		require.Equal(t, fromNext, first)
	})
}

// Jitter that validation refuses must still keep the ticks in order.
func TestJitterAboveThePeriodIsCut(t *testing.T) {
	t.Parallel()
	s := jittered(periodic(start, time.Second), 1000*time.Hour)
	due := start.Add(-1)
	for k := range 1000 {
		due, _ = action.NextDue(s, "a", due)
		require.Equal(t, int64(k), int64(due.Sub(start)/time.Second))
	}
}

// Jitter is there to spread a herd: a thousand actions of one time fill it evenly.
func TestJitterSpreadsIDs(t *testing.T) {
	t.Parallel()
	const n, buckets = 10_000, 10
	count := make([]int, buckets)
	for i := range n {
		due, _ := action.FirstDue(jittered(once(start), 10*time.Minute), "order-"+strconv.Itoa(i))
		count[due.Sub(start)/time.Minute]++
	}
	for _, c := range count {
		// Five standard deviations of the binomial distribution.
		require.InDelta(t, n/buckets, c, 150)
	}
}

// And so do the ticks of one action.
func TestJitterSpreadsTicks(t *testing.T) {
	t.Parallel()
	const n, buckets = 10_000, 10
	s := jittered(periodic(start, time.Minute), 10*time.Second)
	count := make([]int, buckets)
	due := start.Add(-1)
	for range n {
		due, _ = action.NextDue(s, "a", due)
		count[due.Sub(start)%time.Minute/time.Second]++
	}
	for _, c := range count {
		require.InDelta(t, n/buckets, c, 150)
	}
}

// The part of the jitter is a contract with workflows that run: another version that
// computes another part would perform a tick twice or not at all.
func TestJitterNeverChanges(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]time.Duration{
		"":         899841297 * time.Microsecond,
		"a":        2403675330 * time.Microsecond,
		"order-17": 1962962707 * time.Microsecond,
	} {
		due, _ := action.FirstDue(jittered(once(start), time.Hour), id)
		require.Equal(t, want, due.Sub(start), "id %q", id)
	}
}

// M-13, M-14, M-15
func TestDeadlineIsInclusiveAndAbsentMeansNever(t *testing.T) {
	t.Parallel()
	s := until(once(start), start)
	at, ok := action.Deadline(s)
	require.True(t, ok)
	require.Equal(t, start, at)
	require.False(t, action.Expired(s, start.Add(-1)))
	require.False(t, action.Expired(s, start))
	require.True(t, action.Expired(s, start.Add(1)))

	for _, s := range []*gnomonv1.Spec{nil, {}, once(start)} {
		_, ok := action.Deadline(s)
		require.False(t, ok)
		require.False(t, action.Expired(s, time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)))
	}
	epoch := until(once(start), time.Unix(0, 0))
	require.True(t, action.Expired(epoch, start), "a deadline of 1970 is one")
}

func TestPreview(t *testing.T) {
	t.Parallel()
	hours := func(n ...int) []time.Time {
		var all []time.Time
		for _, n := range n {
			all = append(all, start.Add(time.Duration(n)*time.Hour))
		}
		return all
	}
	day := start.Add(24 * time.Hour)
	for name, c := range map[string]struct {
		spec  *gnomonv1.Spec
		after time.Time
		count int
		want  []time.Time
	}{
		"once":                          {once(start), start.Add(-time.Hour), 5, hours(0)},
		"once, now":                     {once(start), start, 5, hours(0)},
		"once, over":                    {once(start), start.Add(1), 5, nil},
		"once, after its deadline":      {until(once(start), start.Add(-1)), time.Time{}, 5, nil},
		"none asked for":                {once(start), start, 0, nil},
		"less than none":                {periodic(start, time.Hour), start, -1, nil},
		"period":                        {periodic(start, time.Hour), time.Time{}, 3, hours(0, 1, 2)},
		"period, on a tick":             {periodic(start, time.Hour), start.Add(time.Hour), 3, hours(1, 2, 3)},
		"period, between":               {periodic(start, time.Hour), start.Add(time.Hour + 1), 3, hours(2, 3, 4)},
		"period, deadline on a tick":    {until(periodic(start, time.Hour), start.Add(2*time.Hour)), start, 9, hours(0, 1, 2)},
		"period, deadline before a due": {until(periodic(start, time.Hour), start.Add(2*time.Hour-1)), start, 9, hours(0, 1)},
		"calendar":                      {byCalendar(start, "0 * * * *", ""), day, 2, hours(24, 25)},
		"calendar, before start":        {byCalendar(start, "0 * * * *", ""), time.Time{}, 2, hours(0, 1)},
		"no start":                      {&gnomonv1.Spec{}, start, 5, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, action.Preview(c.spec, "a", c.after, c.count))
		})
	}
}
