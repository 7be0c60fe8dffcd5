package outbound

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// M-37, M-38: a server that notices a deadline a moment before we do leaves no doubt
// whose it was: the call's own, which is a failure, or the attempt's.
func TestExpiredKnowsWhoseDeadlineItWas(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		attempt, own time.Duration
		stopped      bool
	}{
		{attempt: 0, own: time.Hour},
		{attempt: 2 * time.Hour, own: time.Hour},
		{attempt: time.Hour, own: 2 * time.Hour, stopped: true},
	} {
		attempt := t.Context()
		if c.attempt > 0 {
			var cancel context.CancelFunc
			attempt, cancel = context.WithTimeout(attempt, c.attempt)
			defer cancel()
		}
		l, cancel := Limit(attempt, c.own)
		defer cancel()
		require.NoError(t, l.Ended("the call"))
		err := l.Expired("the call")
		if c.stopped {
			require.ErrorIs(t, err, context.DeadlineExceeded)
			continue
		}
		require.NotErrorIs(t, err, context.DeadlineExceeded)
		require.EqualError(t, err, "the call did not end within its time limit of 1h0m0s")
	}
}
