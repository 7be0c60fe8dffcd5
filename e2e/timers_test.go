package e2e

import (
	"errors"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// M-26, issue 8: what a worker takes off a timer for the time that its task took never
// makes it fire early, though the server is busy with many at once; an early one would be
// followed by another, with more than the 16 events of a once-action.
func TestTimersAreNotEarly(t *testing.T) {
	t.Parallel()
	const n = 64
	i := install(t)
	wanted := make([]*gnomonv1.ScheduledAction, n)
	failed := make([]error, n)
	var creating sync.WaitGroup
	for k := range wanted {
		wanted[k] = i.once(i.id(strconv.Itoa(k)), "/ok", 5*time.Second)
		creating.Go(func() {
			_, failed[k] = i.facade.CreateAction(t.Context(), &gnomonv1.CreateActionRequest{Action: wanted[k]})
		})
	}
	creating.Wait()
	require.NoError(t, errors.Join(failed...))
	for _, a := range wanted {
		id, due := a.GetMeta().GetId(), a.GetSpec().GetStartPolicy().GetStartAt().AsTime()
		require.Equal(t, gnomonv1.Status_SUCCEEDED, i.closed(t, id, 60*time.Second).GetState())
		all := i.events(t, id)
		require.Len(t, all, 16, kinds(all))
		for _, e := range all {
			if timer := e.GetTimerStartedEventAttributes(); timer != nil {
				fires := e.GetEventTime().AsTime().Add(timer.GetStartToFireTimeout().AsDuration())
				require.False(t, fires.Before(due), "%s fires at %s and is due at %s", id, fires, due)
			}
		}
	}
}
