package scenarios

import (
	"context"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"google.golang.org/protobuf/types/known/durationpb"

	"gnomon/bench/contenders"
	"gnomon/bench/report"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
)

// eventsWithin bounds each wait of Events.
const eventsWithin = 30 * time.Second

// Events counts what gnomon leaves in history.
func (b *Bench) Events(ctx context.Context) error {
	g, err := b.gnomon(ctx)
	if err != nil {
		return err
	}
	on := string(b.Site.Kind)
	b.Tell("events of once, retry and tick")
	once, err := b.eventsOf(ctx, g, "/ok", 1, nil)
	if err != nil {
		return err
	}
	b.Report.Target("events_once", on, report.Exactly(float64(once)), "")
	retried, err := b.eventsOf(ctx, g, "/fail-first/1", 1, func(s *gnomonv1.SendPolicy) {
		s.GetSendOncePolicy().RetryPolicy = &gnomonv1.RetryPolicy{
			MaxRetries: 1, RestartPeriodScale: durationpb.New(time.Second), RestartPeriodBackOff: 1,
			MinRestartPeriod: durationpb.New(time.Second), MaxRestartPeriod: durationpb.New(time.Second),
		}
	})
	if err != nil {
		return err
	}
	b.Report.Target("events_retry", on, report.Exactly(float64(retried-once)), "")
	// Up to the attempt of the 2nd tick and of the 5th: three ticks lie between.
	ticks, err := b.eventsOf(ctx, g, "/ok", 5, func(s *gnomonv1.SendPolicy) {
		s.Policy = &gnomonv1.SendPolicy_SendPeriodicallyPolicy{
			SendPeriodicallyPolicy: &gnomonv1.SendPeriodicallyPolicy{Period: durationpb.New(time.Second)},
		}
	})
	if err != nil {
		return err
	}
	b.Report.Target("events_tick", on, report.Exactly(float64(ticks)/3), "")
	return nil
}

// eventsOf creates an action and gives the number of its events once it has closed; or,
// of one that is performed several times, those between its 2nd attempt and the last,
// and deletes it.
func (b *Bench) eventsOf(ctx context.Context, g *contenders.GnomonService, path string, times int, change func(*gnomonv1.SendPolicy)) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, eventsWithin)
	defer cancel()
	jobs, prefix := b.jobs(g, 1, func(int) time.Time { return time.Now().Add(time.Second) })
	a := contenders.Action(jobs[0])
	a.GetSpec().GetAction().GetHttpRequest().Url = b.Site.Inbox.URL(path + prefix)
	if change != nil {
		change(a.GetSpec().GetSendPolicy())
	}
	id := a.GetMeta().GetId()
	if _, err := g.Actions.CreateAction(ctx, &gnomonv1.CreateActionRequest{Action: a}); err != nil {
		return 0, err
	}
	if times == 1 {
		if err := b.Site.Client.GetWorkflow(ctx, workflowv1.WorkflowID(id), "").Get(ctx, nil); err != nil {
			return 0, err
		}
		all, _, err := b.history(ctx, workflowv1.WorkflowID(id))
		return all, err
	}
	for {
		_, attempts, err := b.history(ctx, workflowv1.WorkflowID(id))
		if err != nil {
			return 0, err
		}
		if len(attempts) >= times {
			_, err := g.Actions.DeleteAction(ctx, &gnomonv1.DeleteActionRequest{Id: id})
			return attempts[times-1] - attempts[1], err
		}
		select {
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// history counts the events of a workflow, and says at which of them attempts were
// scheduled.
func (b *Bench) history(ctx context.Context, id string) (int, []int, error) {
	all, attempts := 0, []int(nil)
	pages := b.Site.Client.GetWorkflowHistory(ctx, id, "", false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for pages.HasNext() {
		e, err := pages.Next()
		if err != nil {
			return 0, nil, err
		}
		if e.GetEventType() == enumspb.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED {
			attempts = append(attempts, all)
		}
		all++
	}
	return all, attempts, nil
}
