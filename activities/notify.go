package activities

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/batch"
	"gnomon/notices"
)

// NotifyBatch is the activity: it tells people of a state that is stored (V-17). It fails
// until every channel that wants the notice has it; those that have it are not told again,
// unless this process is lost in between, so that the notice's key is the same each time.
// A state that has passed meanwhile is told to nobody.
func (b *Batches) NotifyBatch(ctx context.Context, in *workflowv1.NotifyBatchInput) error {
	event := notices.EventOf(in.GetState())
	wanted := b.Notices.For(event)
	if event == "" || len(wanted) == 0 {
		return nil
	}
	row, err := b.Store.GetBatchHead(ctx, in.GetId())
	if err != nil {
		return err
	}
	st := row.Batch.GetStatus()
	if row.Batch.GetUid() != in.GetUid() || st.GetState() != in.GetState() || st.GetRound() != in.GetRound() {
		return nil
	}
	told := &workflowv1.NotifyBatchProgress{}
	if activity.HasHeartbeatDetails(ctx) {
		if err := activity.GetHeartbeatDetails(ctx, told); err != nil {
			told = &workflowv1.NotifyBatchProgress{}
		}
	}
	n := notices.Notice{Key: batch.NoticeKey(in.GetId(), in.GetUid(), in.GetRound(), event), Event: event, Batch: row.Batch}
	var failed []error
	for _, channel := range wanted {
		if slices.Contains(told.GetTold(), channel.Name()) {
			continue
		}
		if err := channel.Send(ctx, n); err != nil {
			failed = append(failed, fmt.Errorf("channel %s: %w", channel.Name(), err))
			continue
		}
		told.Told = append(told.Told, channel.Name())
		activity.RecordHeartbeat(ctx, told)
	}
	if err := errors.Join(failed...); err != nil {
		return temporal.NewApplicationErrorWithOptions(shorten(err.Error()), "NotTold", temporal.ApplicationErrorOptions{
			Category: temporal.ApplicationErrorCategoryBenign,
		})
	}
	return nil
}
