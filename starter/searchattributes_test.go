package starter

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/grpc"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
)

// newNamespace is a Temporal that knows its namespace after some time.
type newNamespace struct {
	client.Client
	operatorservice.OperatorServiceClient

	known func() error
}

func (n newNamespace) OperatorService() operatorservice.OperatorServiceClient { return n }

func (n newNamespace) ListSearchAttributes(context.Context, *operatorservice.ListSearchAttributesRequest, ...grpc.CallOption) (*operatorservice.ListSearchAttributesResponse, error) {
	if err := n.known(); err != nil {
		return nil, err
	}
	return &operatorservice.ListSearchAttributesResponse{CustomAttributes: SearchAttributes()}, nil
}

// waitsForNew holds that what was registered just now is waited for, and not for ever. act
// fails with unknown until known.
func waitsForNew(t *testing.T, unknown error, act func(t *testing.T, known func() error) error) {
	t.Helper()
	for name, c := range map[string]struct {
		after, took time.Duration
		fails       bool
	}{
		"known":    {0, 0, false},
		"new":      {10 * time.Second, 10 * time.Second, false},
		"mistyped": {time.Hour, 15500 * time.Millisecond, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				err := act(t, func() error {
					if time.Since(began) < c.after {
						return unknown
					}
					return nil
				})
				require.Equal(t, c.took, time.Since(began))
				require.Equal(t, c.fails, err != nil, "%v", err)
			})
		})
	}
}

// A namespace that was registered just now is waited for, one that does not come is told.
func TestNewNamespaceIsWaitedFor(t *testing.T) {
	t.Parallel()
	waitsForNew(t, serviceerror.NewNamespaceNotFound("mine"), func(t *testing.T, known func() error) error {
		t.Helper()
		err := EnsureSearchAttributes(t.Context(), newNamespace{known: known}, "mine")
		if err != nil {
			require.EqualError(t, err, `the search attributes of namespace "mine" could not be listed: Namespace mine is not found.`)
		}
		return err
	})
}

// Waiting for a namespace ends with its caller's patience.
func TestWaitingForANamespaceEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		began := time.Now()
		never := newNamespace{known: func() error { return serviceerror.NewNamespaceNotFound("mine") }}
		require.ErrorIs(t, EnsureSearchAttributes(ctx, never, "mine"), context.DeadlineExceeded)
		require.Equal(t, 3*time.Second, time.Since(began))
	})
}

// unmapped is how a frontend refuses search attributes that it does not know yet.
var unmapped = serviceerror.NewInvalidArgument("Namespace gnomon has no mapping defined for search attribute GnomonKind")

// An action that is created right after the search attributes were registered waits for
// Temporal's frontends to know them.
func TestNewSearchAttributesAreWaitedFor(t *testing.T) {
	t.Parallel()
	waitsForNew(t, unmapped, func(t *testing.T, known func() error) error {
		t.Helper()
		s, f, _ := newFacade(t)
		f.run = func(*workflowservice.StartWorkflowExecutionRequest) (string, error) { return "run-1", known() }
		_, err := s.CreateAction(t.Context(), &gnomonv1.CreateActionRequest{Action: wantedAction("a")})
		return err
	})
}

// So does one that an update would create.
func TestUpdateWaitsForNewSearchAttributes(t *testing.T) {
	t.Parallel()
	waitsForNew(t, unmapped, func(t *testing.T, known func() error) error {
		t.Helper()
		s, f, _ := newFacade(t)
		f.apply = func(_ string, c *workflowv1.Command) (*workflowv1.CommandResult, error) {
			return &workflowv1.CommandResult{Action: c.GetAction()}, known()
		}
		_, err := s.UpdateAction(t.Context(), &gnomonv1.UpdateActionRequest{Action: wantedAction("a"), AllowMissing: true})
		return err
	})
}
