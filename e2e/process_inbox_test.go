package e2e

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/receiver"
)

// inbox is a receiver in the test's own process, which outlives those killed.
type inbox struct{ *receiver.Receiver }

func receive(t *testing.T) inbox {
	t.Helper()
	r, err := receiver.Start(context.WithoutCancel(t.Context()), receiver.Config{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, r.Close()) })
	return inbox{r}
}

// of are the arrivals of one action.
func (i inbox) of(id string) []receiver.Arrival {
	var own []receiver.Arrival
	for _, a := range i.Arrivals() {
		if a.ActionID == id {
			own = append(own, a)
		}
	}
	return own
}

// nth waits for the nth arrival of an action, from 1.
func (i inbox) nth(t *testing.T, id string, n int, within time.Duration) receiver.Arrival {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	seen := 0
	a, err := i.Wait(ctx, func(a receiver.Arrival) bool {
		if a.ActionID == id {
			seen++
		}
		return a.ActionID == id && seen == n
	})
	require.NoError(t, err, "arrival %d of %s did not come within %s", n, id, within)
	return a
}

// timeout of the requests: held ones are neither slow nor lost.
const requestTimeout = 5 * time.Minute

// once is an action that calls a path once.
func (i inbox) once(id, path string, at time.Time) *gnomonv1.ScheduledAction {
	return &gnomonv1.ScheduledAction{
		Meta: &gnomonv1.Meta{Id: id},
		Spec: &gnomonv1.Spec{
			StartPolicy: &gnomonv1.StartPolicy{StartAt: timestamppb.New(at)},
			SendPolicy:  &gnomonv1.SendPolicy{Policy: &gnomonv1.SendPolicy_SendOncePolicy{SendOncePolicy: &gnomonv1.SendOncePolicy{}}},
			Action: &gnomonv1.Action{Action: &gnomonv1.Action_HttpRequest{HttpRequest: &gnomonv1.HttpRequest{
				Url: i.URL(path), Timeout: durationpb.New(requestTimeout),
			}}},
		},
	}
}

// steadily makes a once-action retry at a constant distance.
func steadily(a *gnomonv1.ScheduledAction, retries uint32, delay time.Duration) *gnomonv1.ScheduledAction {
	a.GetSpec().GetSendPolicy().GetSendOncePolicy().RetryPolicy = &gnomonv1.RetryPolicy{
		MaxRetries: retries, MinRestartPeriod: durationpb.New(delay), MaxRestartPeriod: durationpb.New(delay),
	}
	return a
}

func create(t *testing.T, c gnomonv1.ActionServiceClient, a *gnomonv1.ScheduledAction) *gnomonv1.ScheduledAction {
	t.Helper()
	reply, err := c.CreateAction(t.Context(), &gnomonv1.CreateActionRequest{Action: a})
	require.NoError(t, err)
	return reply
}

// row is an action as the mirror has it.
func row(t *testing.T, c gnomonv1.ActionServiceClient, id string) *gnomonv1.ScheduledAction {
	t.Helper()
	a, err := c.GetAction(t.Context(), &gnomonv1.GetActionRequest{Id: id})
	require.NoError(t, err)
	return a
}

// counts are the counters of a Status: successful, failed, interrupted, in a row.
type counts struct{ ok, failed, interrupted, inARow uint64 }

func counted(st *gnomonv1.Status) counts {
	return counts{
		st.GetSuccessfulAttemptsCounter(), st.GetFailedAttemptsCounter(),
		st.GetInterruptedAttemptsCounter(), st.GetConsecutiveFailuresCounter(),
	}
}

// ends waits for the row of the end of an action and holds its counters.
func ends(t *testing.T, c gnomonv1.ActionServiceClient, id string, state gnomonv1.Status_State, want counts) *gnomonv1.Status {
	t.Helper()
	var st *gnomonv1.Status
	eventually(t, 30*time.Second, id+" ends", func() bool {
		a, err := c.GetAction(t.Context(), &gnomonv1.GetActionRequest{Id: id})
		st = a.GetStatus()
		return err == nil && st.GetScheduledAt() == nil && st.GetCurrentAttemptStatus() == nil && st.GetLastAttemptStatus() != nil
	})
	require.Equal(t, state, st.GetState(), "%s: %v", id, st)
	require.Equal(t, want, counted(st), "%s: %v", id, st)
	return st
}
