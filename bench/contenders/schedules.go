package contenders

import (
	"context"
	"time"

	"go.temporal.io/sdk/client"
)

// schedules is TS: one Schedule for each job, with one action left.
type schedules struct{ *byHand }

// NewSchedules starts the worker of TS in the client's namespace.
func NewSchedules(c client.Client, name string) (Contender, error) {
	h, err := newByHand(byHand{name: name, queue: "schedules", kind: actorName, client: c})
	return &schedules{h}, err
}

// Resolution implements Contender: intervals and calendars are exact to the second.
func (s *schedules) Resolution() time.Duration { return time.Second }

// Create implements Contender. The first time of the interval is the job's.
func (s *schedules) Create(ctx context.Context, j Job) error {
	return s.schedule(ctx, j, client.ScheduleSpec{Intervals: at(j.Due, 365*24*time.Hour)}, 1)
}

// Repeat implements Repeater.
func (s *schedules) Repeat(ctx context.Context, j Job, every time.Duration, times int) error {
	return s.schedule(ctx, j, client.ScheduleSpec{StartAt: j.Due, Intervals: at(j.Due, every)}, times)
}

// at is an interval that has one of its times at a moment.
func at(moment time.Time, every time.Duration) []client.ScheduleIntervalSpec {
	return []client.ScheduleIntervalSpec{{Every: every, Offset: time.Duration(moment.UnixNano() % int64(every))}}
}

func (s *schedules) schedule(ctx context.Context, j Job, spec client.ScheduleSpec, times int) error {
	_, err := s.client.ScheduleClient().Create(ctx, client.ScheduleOptions{
		ID: j.ID, Spec: spec, RemainingActions: times,
		Action: &client.ScheduleWorkflowAction{
			ID: "sleep/" + j.ID, Workflow: s.kind, TaskQueue: s.queue, Args: []any{Input{Due: j.Due, URL: j.URL, Body: j.Body}},
		},
	})
	return err
}
