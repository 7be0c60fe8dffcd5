package activities

import (
	"context"
	"time"

	"go.temporal.io/sdk/client"

	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/batch"
)

// Teller tells the workflow of a batch how far its processing is.
type Teller interface {
	Tell(ctx context.Context, workflowID, runID string, p *workflowv1.BatchProgress) error
}

// NewTeller tells by signals through a Temporal client.
func NewTeller(c client.Client) Teller { return signalTeller{c} }

type signalTeller struct{ client client.Client }

// Tell implements Teller.
func (s signalTeller) Tell(ctx context.Context, workflowID, runID string, p *workflowv1.BatchProgress) error {
	return s.client.SignalWorkflow(ctx, workflowID, runID, workflowv1.SignalBatchProgress, p)
}

const (
	// tellEvery lies between two looks at whether there is progress to tell of: a round
	// that is over sooner tells of none.
	tellEvery = 2 * time.Second
	// tellFor bounds one signal.
	tellFor = 5 * time.Second
)

// tell tells of progress until ctx ends, each twentieth of the batch once at most. It
// holds up neither changes nor heartbeats, and what fails is told with the next.
func (p *processing) tell(ctx context.Context, workflowID, runID string) {
	if p.Teller == nil {
		return
	}
	ticker := time.NewTicker(tellEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		now := p.progress.Load()
		finished := now.GetCompleteChanges() + now.GetFailedChanges()
		all := finished + now.GetPendingChanges()
		if all == 0 { // it has not been loaded
			continue
		}
		if !batch.WorthTelling(finished, p.told.Load(), all) {
			continue
		}
		call, done := context.WithTimeout(ctx, tellFor)
		err := p.Teller.Tell(call, workflowID, runID, now)
		done()
		if err == nil {
			p.told.Store(finished)
		}
	}
}
