package clients

import (
	"context"

	"github.com/google/uuid"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/faults/record"
)

// Who makes an operation, and of what it was told.
type Who struct {
	// Client is a number for the record.
	Client int
	// RequestID is that of the call; empty: a new one.
	RequestID string
	// Etag is the Guid that was seen, empty for any.
	Etag string
}

func (w Who) call(op, id string) record.Call {
	if w.RequestID == "" {
		w.RequestID = uuid.NewString()
	}
	return record.Call{Client: w.Client, Op: op, ID: id, RequestID: w.RequestID, Etag: w.Etag}
}

// Create creates an action that calls target.
func (c *Client) Create(ctx context.Context, w Who, id, target string, s record.Spec) record.Call {
	r := w.call(record.Create, id)
	r.Spec = &s
	req := &gnomonv1.CreateActionRequest{Action: Action(id, target, s), RequestId: r.RequestID}
	return c.do(ctx, r, func(ctx context.Context) (*gnomonv1.ScheduledAction, error) { return c.service.CreateAction(ctx, req) })
}

// Update replaces the spec of an action.
func (c *Client) Update(ctx context.Context, w Who, id, target string, s record.Spec) record.Call {
	r := w.call(record.Update, id)
	r.Spec = &s
	req := &gnomonv1.UpdateActionRequest{Action: Action(id, target, s), RequestId: r.RequestID, Etag: r.Etag}
	return c.do(ctx, r, func(ctx context.Context) (*gnomonv1.ScheduledAction, error) { return c.service.UpdateAction(ctx, req) })
}

// Delete deletes an action.
func (c *Client) Delete(ctx context.Context, w Who, id string) record.Call {
	r := w.call(record.Delete, id)
	req := &gnomonv1.DeleteActionRequest{Id: id, RequestId: r.RequestID, Etag: r.Etag}
	return c.do(ctx, r, func(ctx context.Context) (*gnomonv1.ScheduledAction, error) { return c.service.DeleteAction(ctx, req) })
}

// Pause pauses an action.
func (c *Client) Pause(ctx context.Context, w Who, id string) record.Call {
	r := w.call(record.Pause, id)
	req := &gnomonv1.PauseActionRequest{Id: id, RequestId: r.RequestID, Etag: r.Etag}
	return c.do(ctx, r, func(ctx context.Context) (*gnomonv1.ScheduledAction, error) { return c.service.PauseAction(ctx, req) })
}

// Resume resumes an action.
func (c *Client) Resume(ctx context.Context, w Who, id string) record.Call {
	r := w.call(record.Resume, id)
	req := &gnomonv1.ResumeActionRequest{Id: id, RequestId: r.RequestID, Etag: r.Etag}
	return c.do(ctx, r, func(ctx context.Context) (*gnomonv1.ScheduledAction, error) { return c.service.ResumeAction(ctx, req) })
}

// Trigger triggers an action.
func (c *Client) Trigger(ctx context.Context, w Who, id string) record.Call {
	r := w.call(record.Trigger, id)
	req := &gnomonv1.TriggerActionRequest{Id: id, RequestId: r.RequestID, Etag: r.Etag}
	return c.do(ctx, r, func(ctx context.Context) (*gnomonv1.ScheduledAction, error) { return c.service.TriggerAction(ctx, req) })
}
