package workflows

import (
	"errors"

	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
	"google.golang.org/protobuf/proto"

	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/batch"
)

// batchCommands are the commands that are updates too.
var batchCommands = []string{workflowv1.CommandCancel, workflowv1.CommandReschedule, workflowv1.CommandReview}

// handleUpdates makes every command an update with a validator (P-02).
func (b *batchRun) handleUpdates() error {
	for _, name := range batchCommands {
		handle := func(_ workflow.Context, raw converter.RawValue) (*workflowv1.BatchHead, error) {
			b.drain() // what was accepted before it comes first
			c, err := readPayload(raw, &workflowv1.BatchCommand{})
			if err == nil {
				err = b.apply(name, c)
			}
			if err != nil {
				return nil, batchRefusal(err)
			}
			return b.result()
		}
		validate := func(_ workflow.Context, raw converter.RawValue) error {
			c, err := readPayload(raw, &workflowv1.BatchCommand{})
			if err != nil {
				return batchRefusal(errors.Join(batch.ErrMalformed, err))
			}
			if len(b.arrivals.signals) > 0 || b.cancelPending() {
				return nil // they may change the answer: the handler gives it
			}
			return batchRefusal(batch.Check(b.state, name, c, workflow.Now(b.ctx)))
		}
		err := workflow.SetUpdateHandlerWithOptions(b.ctx, name, handle, workflow.UpdateHandlerOptions{Validator: validate})
		if err != nil {
			return err
		}
	}
	return nil
}

// result is the answer to a command and to the query.
func (b *batchRun) result() (*workflowv1.BatchHead, error) {
	return proto.CloneOf(b.state.GetHead()), nil
}

func (b *batchRun) apply(name string, c *workflowv1.BatchCommand) error {
	if err := batch.Apply(b.state, name, c, workflow.Now(b.ctx)); err != nil {
		return err
	}
	b.changed = true
	return nil
}

// drain applies the signals that have arrived, in the order they were accepted in, and
// the run's cancellation in its place among them. One that does not fit is dropped and
// recorded, and never fails the run.
func (b *batchRun) drain() {
	for len(b.arrivals.signals) > 0 {
		next := b.arrivals.signals[0]
		if next.afterCancel {
			b.applyCancel()
		}
		b.arrivals.signals = b.arrivals.signals[1:]
		b.signal(next.name)
	}
	b.applyCancel()
}

func (b *batchRun) signal(name string) {
	var raw converter.RawValue
	err := errors.New("its payload could not be decoded")
	if workflow.GetSignalChannel(b.ctx, name).ReceiveAsync(&raw) {
		err = b.hear(name, raw)
	}
	b.drop(name, err)
}

// hear applies one signal.
func (b *batchRun) hear(name string, raw converter.RawValue) error {
	if name == workflowv1.SignalBatchProgress {
		p, err := readPayload(raw, &workflowv1.BatchProgress{})
		if err == nil {
			b.progress = batch.Further(b.state, b.progress, p)
		}
		return err
	}
	c, err := readPayload(raw, &workflowv1.BatchCommand{})
	if err != nil {
		return err
	}
	return b.apply(name, c)
}

// drop records a signal that did not fit.
func (b *batchRun) drop(name string, err error) {
	if err == nil || batch.Ended(b.state.GetHead().GetStatus().GetState()) {
		return
	}
	b.log.Info("A command did not fit and was dropped.", "command", name, "reason", err.Error())
	b.changed = true
	batch.Dropped(b.state, name, err, workflow.Now(b.ctx))
}

// applyCancel hears Temporal's own cancellation, once: it ends the batch where a person
// could.
func (b *batchRun) applyCancel() {
	if !b.cancelPending() {
		return
	}
	b.cancelled = true
	name, c := batch.Cancellation(b.state)
	b.drop(name, b.apply(name, c))
}

// batchRefusal is the error of an update that was refused, with a type that the facade
// maps to a status; that of a wrong state has the state's name as its details.
func batchRefusal(err error) error {
	var wrong *batch.StateError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &wrong):
		return temporal.NewNonRetryableApplicationError(err.Error(), workflowv1.RefusedState, nil, wrong.State.String())
	case errors.Is(err, batch.ErrEtag):
		return temporal.NewNonRetryableApplicationError(err.Error(), workflowv1.RefusedEtag, nil)
	case errors.Is(err, batch.ErrReused):
		return temporal.NewNonRetryableApplicationError(err.Error(), workflowv1.RefusedReused, nil)
	default:
		return temporal.NewNonRetryableApplicationError(err.Error(), workflowv1.RefusedMalformed, nil)
	}
}
