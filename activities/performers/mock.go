package performers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// mock performs mock_action: it behaves as the action tells it (M-03).
type mock struct{}

// Perform succeeds, fails, panics, hangs or sleeps. Hang and sleep end with ctx.
func (mock) Perform(ctx context.Context, r Request) (Reply, error) {
	const done = "mock success"
	switch b := r.Action.GetMockAction().GetBehaviour().(type) {
	case *gnomonv1.MockAction_Succeed_:
		return Reply{Text: done}, nil
	case *gnomonv1.MockAction_FailFirst_:
		if n := b.FailFirst.GetAttempts(); r.Attempt <= n {
			return Reply{}, fmt.Errorf("mock failure: attempt %d of %d that fail", r.Attempt, n)
		}
		return Reply{Text: done}, nil
	case *gnomonv1.MockAction_Fail_:
		return Reply{}, errors.New(cmp.Or(b.Fail.GetMessage(), "mock failure"))
	case *gnomonv1.MockAction_Panic_:
		panic("mock panic")
	case *gnomonv1.MockAction_Hang_:
		<-ctx.Done()
		return Reply{}, fmt.Errorf("mock hang was stopped: %w", ctx.Err())
	case *gnomonv1.MockAction_Sleep_:
		t := time.NewTimer(b.Sleep.GetDuration().AsDuration())
		defer t.Stop()
		select {
		case <-t.C:
			return Reply{Text: done}, nil
		case <-ctx.Done():
			return Reply{}, fmt.Errorf("mock sleep was stopped: %w", ctx.Err())
		}
	default:
		return Reply{}, misdirected(kindMock + ".behaviour")
	}
}
