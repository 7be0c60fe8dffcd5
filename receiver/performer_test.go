package receiver_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	gnomonv1 "gnomon/api/gnomon/v1"

	"gnomon/activities/performers"
	"gnomon/receiver"
)

// The receiver reads what gnomon's own performer sends, to the nanosecond, and makes
// it fail as the path asks.
func TestReceiverUnderstandsThePerformer(t *testing.T) {
	t.Parallel()
	r := start(t, receiver.Config{})
	set, err := performers.New(performers.Default())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, set.Close()) })
	action := &gnomonv1.Action{Action: &gnomonv1.Action_HttpRequest{HttpRequest: &gnomonv1.HttpRequest{
		Url: r.URL("/fail-first/1/hello"), Body: []byte("hi"),
	}}}
	p, err := set.For(action)
	require.NoError(t, err)

	due := time.Now().Add(-time.Minute)
	attempt := performers.Request{Action: action, ID: "hello", GUID: "g1", Occurrence: due, IdempotencyKey: "hello/g1/due"}
	attempt.Attempt = 1
	_, err = p.Perform(t.Context(), attempt)
	require.ErrorContains(t, err, "status 503")
	attempt.Attempt = 2
	_, err = p.Perform(t.Context(), attempt)
	require.NoError(t, err)

	all := r.Arrivals()
	require.Len(t, all, 2)
	for i, a := range all {
		require.Equal(t, "hello", a.ActionID)
		require.Equal(t, "g1", a.GUID)
		require.Equal(t, "hello/g1/due", a.IdempotencyKey)
		require.EqualValues(t, i+1, a.Attempt)
		require.True(t, due.Equal(a.ScheduledAt))
		require.GreaterOrEqual(t, a.Late(), time.Minute)
		require.Equal(t, "hi", string(a.Body))
	}
	require.Equal(t, []int{503, 200}, []int{all[0].Status, all[1].Status})
}
