package workflows

import (
	"errors"

	"github.com/google/uuid"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
	"google.golang.org/protobuf/proto"

	"gnomon/action/life"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
)

// updateNames are the commands that are updates too. Each waits for nothing, so
// that its answer comes with the task that applied it.
var updateNames = []string{
	workflowv1.CommandUpdate, workflowv1.CommandPause, workflowv1.CommandResume,
	workflowv1.CommandTrigger, workflowv1.CommandCancel,
}

// handleUpdates makes every command an update with a validator (P-02).
func (a *actionRun) handleUpdates() error {
	for _, name := range updateNames {
		handle := func(_ workflow.Context, raw converter.RawValue) (*workflowv1.CommandResult, error) {
			a.drain() // what was accepted before it comes first
			c, err := readCommand(raw)
			if err == nil {
				err = a.apply(name, c)
			}
			if err != nil {
				return nil, refusal(err)
			}
			return a.result(), nil
		}
		validate := func(_ workflow.Context, raw converter.RawValue) error {
			c, err := readCommand(raw)
			if err != nil {
				return refusal(errors.Join(life.ErrMalformed, err))
			}
			if len(a.arrivals.signals) > 0 || a.cancelPending() {
				return nil // they may change the answer: the handler gives it
			}
			return refusal(life.Check(a.state, name, c, workflow.Now(a.ctx)))
		}
		err := workflow.SetUpdateHandlerWithOptions(a.ctx, name, handle, workflow.UpdateHandlerOptions{Validator: validate})
		if err != nil {
			return err
		}
	}
	return nil
}

// drain applies the signals that have arrived, in the order they were accepted in,
// and the run's cancellation in its place among them. A signal that does not fit
// is dropped and recorded, and never fails the run.
func (a *actionRun) drain() {
	for len(a.arrivals.signals) > 0 {
		next := a.arrivals.signals[0]
		if next.afterCancel {
			a.applyCancel()
		}
		a.arrivals.signals = a.arrivals.signals[1:]
		a.signal(next.name)
	}
	a.applyCancel()
}

func (a *actionRun) signal(name string) {
	var raw converter.RawValue
	if !workflow.GetSignalChannel(a.ctx, name).ReceiveAsync(&raw) {
		a.malformed(name, errors.New("its payload could not be decoded"))
		return
	}
	c, err := readCommand(raw)
	if err == nil && !life.Known(name) {
		err = errors.New("no command has this name")
	}
	if err != nil {
		a.malformed(name, err)
		return
	}
	err = a.apply(name, c)
	if errors.Is(err, life.ErrMalformed) {
		a.malformed(name, err)
	} else if err != nil {
		a.log.Info("A command did not fit and was dropped.", "command", name, "reason", err.Error())
	}
}

func (a *actionRun) malformed(name string, err error) {
	if life.Ended(a.state.GetStatus()) {
		return
	}
	a.changed = true
	life.Malformed(a.state, name, err, workflow.Now(a.ctx))
}

// applyCancel applies Temporal's own cancellation as the command cancel, once.
func (a *actionRun) applyCancel() {
	if !a.cancelPending() {
		return
	}
	a.cancelled = true
	if err := a.apply(workflowv1.CommandCancel, &workflowv1.Command{}); err != nil {
		a.log.Info("A cancellation came after the end.", "reason", err.Error())
	}
}

// apply applies one command. By its return the server will have been told, with
// this very task, to cancel the attempts of what stood before.
func (a *actionRun) apply(name string, c *workflowv1.Command) error {
	effect, err := life.Apply(a.state, name, c, workflow.Now(a.ctx), a.nextGuid())
	if err != nil {
		return err
	}
	a.changed = true
	if effect.Supersede {
		a.supersede()
	}
	if effect.Revive {
		a.revived = true
		a.mirror = nil // a row of the old incarnation
		// The row under way is the old incarnation's. The new one counts anew, so that its
		// first row has the same number; it is owed all the same.
		a.mirroring = 0
	}
	return nil
}

// nextGuid is the Guid of a change that brings none, as one sent by hand: new, and
// the same in every replay.
func (a *actionRun) nextGuid() string {
	return uuid.NewSHA1(uuid.NameSpaceOID, []byte(workflow.GetInfo(a.ctx).WorkflowExecution.RunID+"/"+a.state.GetMeta().GetGuid())).String()
}

// result is the answer to a command: the action and the place of its row.
func (a *actionRun) result() *workflowv1.CommandResult {
	return &workflowv1.CommandResult{
		Action:    life.Action(a.state),
		Revision:  a.revision(),
		Chain:     workflow.GetInfo(a.ctx).FirstRunID,
		Tombstone: life.Ended(a.state.GetStatus()),
		DeletedBy: a.state.GetDeletedBy(),
	}
}

// handleQueries registers the queries.
func (a *actionRun) handleQueries() error {
	err := workflow.SetQueryHandler(a.ctx, workflowv1.QueryStanding, func() (*workflowv1.Standing, error) {
		guid := a.state.GetMeta().GetGuid()
		if a.performed != nil {
			// New labels alone changed it; the spec that is being performed stands.
			guid = a.performed.GetMeta().GetGuid()
		}
		return &workflowv1.Standing{
			Guid:     guid,
			Perform:  a.state.GetPerforming() != 0,
			Paused:   a.state.GetPaused(),
			Sequence: a.state.GetPerforming(),

			RowSequence: a.state.GetSequence(),
			Meta:        proto.CloneOf(a.state.GetMeta()),
			Conditions:  a.state.GetStatus().GetConditions(),
		}, nil
	})
	if err != nil {
		return err
	}
	return workflow.SetQueryHandler(a.ctx, workflowv1.QueryAction, func() (*workflowv1.CommandResult, error) {
		return a.result(), nil
	})
}

// refusal is the error of an update that was refused, with a type that the facade
// maps to a status.
func refusal(err error) error {
	if err == nil {
		return nil
	}
	for _, r := range refusals {
		if errors.Is(err, r.err) {
			return temporal.NewNonRetryableApplicationError(err.Error(), r.name, nil)
		}
	}
	return temporal.NewNonRetryableApplicationError(err.Error(), workflowv1.RefusedMalformed, nil)
}

var refusals = []struct {
	err  error
	name string
}{
	{life.ErrEtag, workflowv1.RefusedEtag},
	{life.ErrNotFound, workflowv1.RefusedNotFound},
	{life.ErrExists, workflowv1.RefusedExists},
	{life.ErrNotPaused, workflowv1.RefusedNotPaused},
	{life.ErrPaused, workflowv1.RefusedPaused},
	{life.ErrReused, workflowv1.RefusedReused},
	{life.ErrMalformed, workflowv1.RefusedMalformed},
}
