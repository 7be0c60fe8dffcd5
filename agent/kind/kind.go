package kind

import (
	"context"
	"errors"
	"fmt"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// Kind performs one kind of node action.
type Kind interface {
	// Permit says why this node does not perform the action, or nil. It is asked when the
	// action comes and again before it runs.
	Permit(a *gnomonv1.NodeAction) error
	// Run performs the action and returns when nothing of it runs any more. When ctx ends
	// it stops it, politely and then not; the outcome then says how far it came. Note tells
	// what to stop if this process dies; Stop gets the same in another process.
	Run(ctx context.Context, a *gnomonv1.NodeAction, note func(process string) error) Outcome
}

// Outcome is how an action ended.
type Outcome struct {
	// State is DONE, FAILED or CANCELLED.
	State gnomonv1.NodeAction_State
	// Reason says why it is not DONE, for people. No arguments, no output.
	Reason string
	Result *gnomonv1.NodeAction_Result
}

func failed(format string, args ...any) Outcome {
	return Outcome{State: gnomonv1.NodeAction_FAILED, Reason: fmt.Sprintf(format, args...)}
}

// ErrKind says that no kind performs an action.
var ErrKind = errors.New("this agent does not perform actions of this kind")

// All are the kinds of an agent.
type All struct {
	Exec *Exec
	HTTP *HTTP
}

// For is the kind of an action.
func (k All) For(a *gnomonv1.NodeAction) (Kind, error) {
	switch {
	case a.GetExec() != nil && k.Exec != nil:
		return k.Exec, nil
	case a.GetHttpRequest() != nil && k.HTTP != nil:
		return k.HTTP, nil
	default:
		return nil, ErrKind
	}
}

// Permit says why this node does not perform an action, or nil.
func (k All) Permit(a *gnomonv1.NodeAction) error {
	one, err := k.For(a)
	if err != nil {
		return err
	}
	return one.Permit(a)
}
