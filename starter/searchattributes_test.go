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
)

// newNamespace is a Temporal that knows its namespace after some time.
type newNamespace struct {
	client.Client
	operatorservice.OperatorServiceClient

	known time.Time
}

func (n newNamespace) OperatorService() operatorservice.OperatorServiceClient { return n }

func (n newNamespace) ListSearchAttributes(_ context.Context, r *operatorservice.ListSearchAttributesRequest, _ ...grpc.CallOption) (*operatorservice.ListSearchAttributesResponse, error) {
	if time.Now().Before(n.known) {
		return nil, serviceerror.NewNamespaceNotFound(r.GetNamespace())
	}
	return &operatorservice.ListSearchAttributesResponse{CustomAttributes: SearchAttributes()}, nil
}

// A namespace that was registered just now is waited for, one that does not come is told.
func TestNewNamespaceIsWaitedFor(t *testing.T) {
	t.Parallel()
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
				err := EnsureSearchAttributes(t.Context(), newNamespace{known: began.Add(c.after)}, "mine")
				require.Equal(t, c.took, time.Since(began))
				if c.fails {
					require.EqualError(t, err, `the search attributes of namespace "mine" could not be listed: Namespace mine is not found.`)
					return
				}
				require.NoError(t, err)
			})
		})
	}
}

// An action that is created right after the search attributes were registered waits for
// Temporal's frontends to know them, and not for ever.
func TestNewSearchAttributesAreWaitedFor(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		after, took time.Duration
		fails       bool
	}{
		"known": {0, 0, false},
		"new":   {10 * time.Second, 10 * time.Second, false},
		"never": {time.Hour, 15500 * time.Millisecond, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s, f, _ := newFacade(t)
				began := time.Now()
				f.run = func(*workflowservice.StartWorkflowExecutionRequest) (string, error) {
					if time.Since(began) < c.after {
						return "", serviceerror.NewInvalidArgument("Namespace gnomon has no mapping defined for search attribute GnomonKind")
					}
					return "run-1", nil
				}
				_, err := s.CreateAction(t.Context(), &gnomonv1.CreateActionRequest{Action: wantedAction("a")})
				require.Equal(t, c.took, time.Since(began))
				require.Equal(t, c.fails, err != nil)
			})
		})
	}
}
