package notices_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/notices"
)

type channel string

func (c channel) Name() string                             { return string(c) }
func (channel) Send(context.Context, notices.Notice) error { return nil }

// V-17: a review is told to all, outcomes to those who asked.
func TestChannelsGetWhatTheyWant(t *testing.T) {
	t.Parallel()
	set, err := notices.NewSet(
		notices.Subscription{Channel: channel("log")},
		notices.Subscription{Channel: channel("mail"), Events: []string{notices.BatchFailed}},
	)
	require.NoError(t, err)
	require.Len(t, set.For(notices.ScheduledChangeFailed), 2)
	require.Equal(t, []notices.Channel{channel("mail")}, set.For(notices.BatchFailed))
	require.Empty(t, set.For(notices.BatchComplete))
}

func TestSetsAreChecked(t *testing.T) {
	t.Parallel()
	_, err := notices.NewSet(notices.Subscription{Channel: channel("a")}, notices.Subscription{Channel: channel("a")})
	require.ErrorContains(t, err, `two channels have the name "a"`)
	_, err = notices.NewSet(notices.Subscription{Channel: channel("a"), Events: []string{"Sunrise"}})
	require.ErrorContains(t, err, `wants the event "Sunrise"`)
}

func TestEveryEndHasAnEvent(t *testing.T) {
	t.Parallel()
	require.Equal(t, notices.ScheduledChangeFailed, notices.EventOf(gnomonv1.BatchStatus_MANUAL_REVIEW))
	for number, name := range gnomonv1.BatchStatus_State_name {
		state := gnomonv1.BatchStatus_State(number)
		none := state == gnomonv1.BatchStatus_STATE_UNSPECIFIED || state == gnomonv1.BatchStatus_PENDING || state == gnomonv1.BatchStatus_PROCESSING
		require.Equal(t, none, notices.EventOf(state) == "", name)
	}
}
