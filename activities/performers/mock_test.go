package performers_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/durationpb"

	gnomonv1 "gnomon/api/gnomon/v1"

	"gnomon/activities/performers"
)

func mockAction(m *gnomonv1.MockAction) *gnomonv1.Action {
	return &gnomonv1.Action{Action: &gnomonv1.Action_MockAction{MockAction: m}}
}

func performMock(ctx context.Context, t *testing.T, m *gnomonv1.MockAction, attempt uint32) (performers.Reply, error) {
	t.Helper()
	a := mockAction(m)
	r := request(a)
	r.Attempt = attempt
	return performerOf(t, newSet(t, performers.Config{AllowMock: true}), a).Perform(ctx, r)
}

// M-03: the behaviours that the contract names.
func TestMockSucceeds(t *testing.T) {
	t.Parallel()
	reply, err := performMock(t.Context(), t, &gnomonv1.MockAction{Behaviour: &gnomonv1.MockAction_Succeed_{}}, 1)
	require.NoError(t, err)
	require.Equal(t, "mock success", reply.Text)
}

func TestMockFailsTheFirstAttempts(t *testing.T) {
	t.Parallel()
	m := &gnomonv1.MockAction{Behaviour: &gnomonv1.MockAction_FailFirst_{FailFirst: &gnomonv1.MockAction_FailFirst{Attempts: 2}}}
	for attempt, text := range map[uint32]string{
		1: "mock failure: attempt 1 of 2 that fail",
		2: "mock failure: attempt 2 of 2 that fail",
		3: "",
	} {
		_, err := performMock(t.Context(), t, m, attempt)
		if text == "" {
			require.NoError(t, err)
			continue
		}
		require.EqualError(t, err, text)
		require.False(t, performers.IsPermanent(err))
	}
}

func TestMockFails(t *testing.T) {
	t.Parallel()
	for message, text := range map[string]string{"": "mock failure", "out of paper": "out of paper"} {
		m := &gnomonv1.MockAction{Behaviour: &gnomonv1.MockAction_Fail_{Fail: &gnomonv1.MockAction_Fail{Message: message}}}
		_, err := performMock(t.Context(), t, m, 9)
		require.EqualError(t, err, text)
		require.False(t, performers.IsPermanent(err))
	}
}

func TestMockPanics(t *testing.T) {
	t.Parallel()
	require.PanicsWithValue(t, "mock panic", func() {
		_, _ = performMock(t.Context(), t, &gnomonv1.MockAction{Behaviour: &gnomonv1.MockAction_Panic_{}}, 1)
	})
}

func TestMockHangsUntilItIsStopped(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 24*time.Hour)
		defer cancel()
		began := time.Now()
		_, err := performMock(ctx, t, &gnomonv1.MockAction{Behaviour: &gnomonv1.MockAction_Hang_{}}, 1)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, 24*time.Hour, time.Since(began))
	})
}

func TestMockSleeps(t *testing.T) {
	t.Parallel()
	sleep := &gnomonv1.MockAction{Behaviour: &gnomonv1.MockAction_Sleep_{
		Sleep: &gnomonv1.MockAction_Sleep{Duration: durationpb.New(time.Hour)},
	}}
	t.Run("to its end", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			_, err := performMock(t.Context(), t, sleep, 1)
			require.NoError(t, err)
			require.Equal(t, time.Hour, time.Since(began))
		})
	})
	t.Run("until it is stopped", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			began := time.Now()
			_, err := performMock(ctx, t, sleep, 1)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.Equal(t, time.Minute, time.Since(began))
		})
	})
}
