package activities

import (
	"errors"
	"time"

	"go.temporal.io/sdk/temporal"

	"gnomon/action"
	"gnomon/action/life"
	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/metrics"
)

func (a *attempt) kind() string { return action.Kind(a.in.GetSpec().GetAction()) }

// began measures the beginning of an attempt that may act, and says when that was. Only
// the first attempt of an occurrence tells how late gnomon is: the others come when the
// retry policy wants them.
func (a *attempt) began() time.Time {
	a.Metrics.AttemptBegan(a.kind())
	if o := a.progress.GetOccurrence(); o.GetAttempts() == 0 {
		a.Metrics.OccurrenceBegan(a.kind(), a.now().Sub(o.GetDue().AsTime()))
	}
	return time.Now()
}

// outcome is how an attempt ended, as its label.
func outcome(e life.Ending) metrics.Outcome {
	switch e.Outcome {
	case gnomonv1.AttemptStatus_SUCCESS:
		return metrics.Success
	case gnomonv1.AttemptStatus_INTERRUPTED:
		return metrics.Interrupted
	default:
		return metrics.Failure
	}
}

// refusal is why an attempt may not act, as its label.
func refusal(err error) metrics.Refusal {
	failure, ok := errors.AsType[*temporal.ApplicationError](err)
	switch {
	case ok && failure.Type() == workflowv1.FailureSuperseded:
		return metrics.Superseded
	case ok:
		return metrics.Held
	default:
		return metrics.Dropped
	}
}
