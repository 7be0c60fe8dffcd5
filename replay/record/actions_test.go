package record

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
)

// far is when actions do not begin.
const far = time.Hour

// once is an action that calls a path of the receiver once.
func (i *installation) once(id, path string, in time.Duration) *gnomonv1.ScheduledAction {
	return &gnomonv1.ScheduledAction{
		Meta: &gnomonv1.Meta{Id: id, Labels: map[string]string{"team": "recorder"}},
		Spec: &gnomonv1.Spec{
			StartPolicy: &gnomonv1.StartPolicy{StartAt: timestamppb.New(time.Now().Add(in))},
			SendPolicy:  &gnomonv1.SendPolicy{Policy: &gnomonv1.SendPolicy_SendOncePolicy{SendOncePolicy: &gnomonv1.SendOncePolicy{}}},
			Action: &gnomonv1.Action{Action: &gnomonv1.Action_HttpRequest{HttpRequest: &gnomonv1.HttpRequest{
				Url: i.inbox.URL(path), Timeout: durationpb.New(within),
			}}},
		},
	}
}

// every makes an action periodic.
func every(a *gnomonv1.ScheduledAction, period time.Duration) *gnomonv1.ScheduledAction {
	a.GetSpec().GetSendPolicy().Policy = &gnomonv1.SendPolicy_SendPeriodicallyPolicy{
		SendPeriodicallyPolicy: &gnomonv1.SendPeriodicallyPolicy{Period: durationpb.New(period)},
	}
	return a
}

// minutely makes an action one of the calendar.
func minutely(a *gnomonv1.ScheduledAction) *gnomonv1.ScheduledAction {
	a.GetSpec().GetSendPolicy().Policy = &gnomonv1.SendPolicy_SendByCalendarPolicy{
		SendByCalendarPolicy: &gnomonv1.SendByCalendarPolicy{Cron: "* * * * *", TimeZone: "Europe/Amsterdam"},
	}
	return a
}

// retrying has an action retried, each time a delay after the attempt.
func retrying(a *gnomonv1.ScheduledAction, retries uint32, delay time.Duration) *gnomonv1.ScheduledAction {
	policy := &gnomonv1.RetryPolicy{
		MaxRetries: retries, MinRestartPeriod: durationpb.New(delay), MaxRestartPeriod: durationpb.New(delay),
	}
	switch p := a.GetSpec().GetSendPolicy().GetPolicy().(type) {
	case *gnomonv1.SendPolicy_SendOncePolicy:
		p.SendOncePolicy.RetryPolicy = policy
	case *gnomonv1.SendPolicy_SendPeriodicallyPolicy:
		p.SendPeriodicallyPolicy.RetryPolicy = policy
	case *gnomonv1.SendPolicy_SendByCalendarPolicy:
		p.SendByCalendarPolicy.RetryPolicy = policy
	}
	return a
}

// until gives an action a deadline.
func until(a *gnomonv1.ScheduledAction, in time.Duration) *gnomonv1.ScheduledAction {
	a.GetSpec().GetSendPolicy().Deadline = timestamppb.New(time.Now().Add(in))
	return a
}

// panicking makes an action panic.
func panicking(a *gnomonv1.ScheduledAction) *gnomonv1.ScheduledAction {
	a.GetSpec().Action = &gnomonv1.Action{Action: &gnomonv1.Action_MockAction{MockAction: &gnomonv1.MockAction{
		Behaviour: &gnomonv1.MockAction_Panic_{Panic: &gnomonv1.MockAction_Panic{}},
	}}}
	return a
}

// create creates actions at once, as each second that passes is one of their time.
func (i *installation) create(t *testing.T, all ...*gnomonv1.ScheduledAction) {
	t.Helper()
	var wait sync.WaitGroup
	errs := make([]error, len(all))
	for n, a := range all {
		wait.Go(func() {
			_, errs[n] = i.facade.CreateAction(t.Context(), &gnomonv1.CreateActionRequest{Action: a})
		})
	}
	wait.Wait()
	require.NoError(t, errors.Join(errs...))
}

func (i *installation) update(t *testing.T, a *gnomonv1.ScheduledAction) {
	t.Helper()
	_, err := i.facade.UpdateAction(t.Context(), &gnomonv1.UpdateActionRequest{Action: a})
	require.NoError(t, err)
}

func (i *installation) upsert(t *testing.T, a *gnomonv1.ScheduledAction) {
	t.Helper()
	_, err := i.facade.UpdateAction(t.Context(), &gnomonv1.UpdateActionRequest{Action: a, AllowMissing: true})
	require.NoError(t, err)
}

func (i *installation) pause(t *testing.T, id string) {
	t.Helper()
	_, err := i.facade.PauseAction(t.Context(), &gnomonv1.PauseActionRequest{Id: id})
	require.NoError(t, err)
}

func (i *installation) resume(t *testing.T, id string) {
	t.Helper()
	_, err := i.facade.ResumeAction(t.Context(), &gnomonv1.ResumeActionRequest{Id: id})
	require.NoError(t, err)
}

func (i *installation) trigger(t *testing.T, id string) {
	t.Helper()
	_, err := i.facade.TriggerAction(t.Context(), &gnomonv1.TriggerActionRequest{Id: id})
	require.NoError(t, err)
}

func (i *installation) delete(t *testing.T, id string) {
	t.Helper()
	_, err := i.facade.DeleteAction(t.Context(), &gnomonv1.DeleteActionRequest{Id: id})
	require.NoError(t, err)
}

// signal sends a command as a person would.
func (i *installation) signal(t *testing.T, id, name string, payload any) {
	t.Helper()
	require.NoError(t, i.client.SignalWorkflow(t.Context(), workflowv1.WorkflowID(id), "", name, payload))
}

// cancel is Temporal's own.
func (i *installation) cancel(t *testing.T, id string) {
	t.Helper()
	require.NoError(t, i.client.CancelWorkflow(t.Context(), workflowv1.WorkflowID(id), ""))
}
