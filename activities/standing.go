package activities

import (
	"context"
	"time"

	"go.temporal.io/sdk/client"

	workflowv1 "gnomon/api/gnomon/workflow/v1"
)

// Asker asks a workflow whether its attempts may begin. Its answer sees every
// command accepted before the question.
type Asker interface {
	Standing(ctx context.Context, workflowID, runID string) (*workflowv1.Standing, error)
}

// NewAsker asks through a Temporal client.
func NewAsker(c client.Client) Asker { return queryAsker{c} }

type queryAsker struct{ client client.Client }

// Standing implements Asker.
func (q queryAsker) Standing(ctx context.Context, workflowID, runID string) (*workflowv1.Standing, error) {
	answer, err := q.client.QueryWorkflow(ctx, workflowID, runID, workflowv1.QueryStanding)
	if err != nil {
		return nil, err
	}
	s := &workflowv1.Standing{}
	return s, answer.Get(s)
}

const (
	// askCall bounds one question, askFor all of them for one attempt.
	askCall = 5 * time.Second
	askFor  = 25 * time.Second
	// askPause lies between questions that got no answer.
	askPause = 250 * time.Millisecond
)

// ask asks until there is an answer.
func ask(ctx context.Context, a Asker, workflowID, runID string) (*workflowv1.Standing, error) {
	ctx, cancel := context.WithTimeout(ctx, askFor)
	defer cancel()
	for {
		call, done := context.WithTimeout(ctx, askCall)
		s, err := a.Standing(call, workflowID, runID)
		done()
		if err == nil {
			return s, nil
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(askPause):
		}
	}
}
