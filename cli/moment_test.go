package cli

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"
	"pgregory.net/rapid"

	gnomonv1 "gnomon/api/gnomon/v1"
)

func TestRelativeTimes(t *testing.T) {
	t.Parallel()
	m := moment{now: func() time.Time { return testNow }, local: time.UTC}
	for distance, want := range map[time.Duration]string{
		0: "now", 400 * time.Millisecond: "now", -400 * time.Millisecond: "now",
		time.Second: "in 1s", 1400 * time.Millisecond: "in 1s", -59 * time.Second: "59s ago", 59700 * time.Millisecond: "in 1m",
		time.Minute: "in 1m", 200 * time.Second: "in 3m20s", -time.Hour: "1h ago",
		90*time.Minute + 59*time.Second: "in 1h30m", 24 * time.Hour: "in 1d", 51 * time.Hour: "in 2d3h",
		-1000 * 24 * time.Hour: "1000d ago",
	} {
		require.Equal(t, want, m.relative(testNow.Add(distance)), distance.String())
	}
}

func TestVisible(t *testing.T) {
	t.Parallel()
	require.Equal(t, "plain é 😀", visible("plain é 😀"))
	require.Equal(t, `a\x1b[31m\n\u202e`, visible("a\x1b[31m\n\u202e"))
	require.Equal(t, "ab…", shortened("abcd", 3))
	require.Equal(t, "abc", shortened("abc", 3))
}

// M-29: the next tick is the smallest StartAt + k * Period after now.
func TestCarryStartKeepsThePhase(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		period := time.Duration(rapid.Int64Range(int64(time.Second), int64(1000*time.Hour)).Draw(t, "period"))
		age := time.Duration(rapid.Int64Range(1, int64(20*365*24*time.Hour)).Draw(t, "age"))
		start := testNow.Add(-age)
		spec := &gnomonv1.Spec{
			StartPolicy: &gnomonv1.StartPolicy{StartAt: timestamppb.New(start)},
			SendPolicy: &gnomonv1.SendPolicy{Policy: &gnomonv1.SendPolicy_SendPeriodicallyPolicy{
				SendPeriodicallyPolicy: &gnomonv1.SendPeriodicallyPolicy{Period: durationpb.New(period)},
			}},
		}
		require.True(t, carryStart(spec, testNow))
		next := spec.GetStartPolicy().GetStartAt().AsTime()
		require.True(t, next.After(testNow))
		require.LessOrEqual(t, next.Sub(testNow), period)
		require.Zero(t, next.Sub(start)%period)
	})
}
