package receiver_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gnomon/receiver"
)

func anyArrival(receiver.Arrival) bool { return true }

func toPath(path string) func(receiver.Arrival) bool {
	return func(a receiver.Arrival) bool { return a.Path == path }
}

// Wait finds what has arrived and what is to come, and asks once for each.
func TestWait(t *testing.T) {
	t.Parallel()
	r := start(t, receiver.Config{})
	_, _, err := send(t.Context(), r.URL("/before"), "")
	require.NoError(t, err)
	a, err := r.Wait(t.Context(), toPath("/before"))
	require.NoError(t, err)
	require.EqualValues(t, 1, a.Number)

	asked := 0
	looking := make(chan struct{})
	sent := make(chan error, 1)
	go func() {
		<-looking
		for range 5 {
			if _, _, err := send(t.Context(), r.URL("/other"), ""); err != nil {
				sent <- err
				return
			}
		}
		_, _, err := send(t.Context(), r.URL("/after"), "")
		sent <- err
	}()
	a, err = r.Wait(t.Context(), func(a receiver.Arrival) bool {
		if asked++; asked == 1 {
			close(looking)
		}
		return a.Path == "/after"
	})
	require.NoError(t, err)
	require.NoError(t, <-sent)
	require.EqualValues(t, 7, a.Number)
	require.Equal(t, 7, asked)
}

func TestWaitEndsWithItsContextAndWithTheReceiver(t *testing.T) {
	t.Parallel()
	r := start(t, receiver.Config{})
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	_, err := r.Wait(ctx, anyArrival)
	require.ErrorIs(t, err, context.DeadlineExceeded)

	waited := make(chan error, 1)
	go func() {
		_, err := r.Wait(context.Background(), anyArrival)
		waited <- err
	}()
	require.NoError(t, r.Close())
	require.ErrorIs(t, <-waited, receiver.ErrClosed)
	require.NoError(t, r.Close())
}

// The receiver ends with the context it was started with.
func TestReceiverEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	r, err := receiver.Start(ctx, receiver.Config{})
	require.NoError(t, err)
	cancel()
	_, err = r.Wait(t.Context(), anyArrival)
	require.ErrorIs(t, err, receiver.ErrClosed)
	_, _, err = send(t.Context(), r.URL("/ok"), "")
	require.Error(t, err)
}
