package starter

import (
	"context"
	"errors"
	"strings"
	"time"

	"go.temporal.io/api/serviceerror"
)

const (
	// askAgainAfter lies between a question that was outrun and the same one again,
	// askAgain is how often that is done.
	askAgainAfter = 50 * time.Millisecond
	askAgain      = 5
)

// query asks a workflow, for as long as a worker may take to answer.
func (c Config) query(ctx context.Context, workflowID string, into any, name string, args ...any) error {
	wait, cancel := within(ctx, c.ApplyTimeout)
	defer cancel()
	for again := 0; ; again++ {
		answer, err := c.Client.QueryWorkflow(wait, workflowID, "", name, args...)
		if err == nil {
			return answer.Get(into)
		}
		if outrun(err) && again < askAgain && pauseFor(wait, askAgainAfter) == nil {
			continue
		}
		if wait.Err() != nil && ctx.Err() == nil {
			return errNoWorker
		}
		return err
	}
}

// outrun says that a worker could not answer a question because the workflow moved on
// while it replayed the history for it. It is no answer of the workflow's, and the same
// question is answered a moment later: the worker is told up to where it replays before it
// reads a history that is longer by then (github.com/temporalio/sdk-go/issues/755).
func outrun(err error) bool {
	failed, ok := errors.AsType[*serviceerror.QueryFailed](err)
	return ok && strings.Contains(failed.Error(), "[TMPRL1100]")
}
