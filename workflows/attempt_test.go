package workflows_test

import (
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"google.golang.org/protobuf/proto"

	"gnomon/action/life"
	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
)

// attempt is one that a test took over: it lasts as long as the test says, in
// skipped time, or is lost with its worker.
type attempt struct {
	w     *world
	in    *workflowv1.PerformInput
	token []byte
	// left is what the attempts before it left with the server, nil if nothing.
	left *workflowv1.Progress
}

// lose ends the attempt after a while as a lost worker's: by a heartbeat timeout
// that holds the progress left, or none.
func (a *attempt) lose(after time.Duration, left *workflowv1.Progress) {
	var details []any
	if left != nil {
		details = append(details, left)
	}
	a.end(after, nil, temporal.NewHeartbeatTimeoutError(details...))
}

// loseAfter is lose in an attempt that the server made after one that failed with these
// details: it says so in its timeout.
func (a *attempt) loseAfter(after time.Duration, failed, left *workflowv1.Progress) {
	before := temporal.NewApplicationErrorWithOptions("no", workflowv1.FailureFailed, temporal.ApplicationErrorOptions{Details: []any{failed}})
	a.end(after, nil, temporal.NewTimeoutError(enumspb.TIMEOUT_TYPE_HEARTBEAT, before, left))
}

// last makes the attempt last a while and then end, counted as a worker would.
func (a *attempt) last(d time.Duration, outcome gnomonv1.AttemptStatus_Outcome) {
	began := a.w.now()
	a.w.mu.Lock()
	a.w.attempts = append(a.w.attempts, made{at: began, guid: a.in.GetMeta().GetGuid(), occurrence: a.in.GetOccurrence().GetDue().AsTime()})
	a.w.mu.Unlock()
	p := a.started(began)
	life.Settle(a.in.GetSpec(), a.in.GetMeta(), p, life.Ending{Outcome: outcome, At: began.Add(d)})
	a.end(d, p, nil)
}

// started is the progress once the attempt began.
func (a *attempt) started(at time.Time) *workflowv1.Progress {
	p := &workflowv1.Progress{Status: proto.CloneOf(a.in.GetStatus()), Occurrence: proto.CloneOf(a.in.GetOccurrence())}
	life.Start(a.in.GetSpec(), a.in.GetMeta(), p, life.Started{At: at, Worker: "lost worker"})
	return p
}

func (a *attempt) end(after time.Duration, p *workflowv1.Progress, err error) {
	a.w.env.RegisterDelayedCallback(func() {
		require.NoError(a.w.t, a.w.env.CompleteActivity(a.token, p, err))
	}, after)
}
