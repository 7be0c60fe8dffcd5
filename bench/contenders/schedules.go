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
	const every = 365 * 24 * time.Hour
	_, err := s.client.ScheduleClient().Create(ctx, client.ScheduleOptions{
		ID: j.ID,
		Spec: client.ScheduleSpec{Intervals: []client.ScheduleIntervalSpec{{
			Every: every, Offset: time.Duration(j.Due.UnixNano() % int64(every)),
		}}},
		Action: &client.ScheduleWorkflowAction{
			ID: "sleep/" + j.ID, Workflow: s.kind, TaskQueue: s.queue, Args: []any{Input{Due: j.Due, URL: j.URL, Body: j.Body}},
		},
		RemainingActions: 1,
	})
	return err
}
