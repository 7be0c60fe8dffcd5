package metrics

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"

	gnomonv1 "gnomon/api/gnomon/v1"
)

func mock(conditions ...*gnomonv1.Condition) *gnomonv1.ScheduledAction {
	return &gnomonv1.ScheduledAction{
		Meta:   &gnomonv1.Meta{Id: "secret-canary"},
		Spec:   &gnomonv1.Spec{Action: &gnomonv1.Action{Action: &gnomonv1.Action_MockAction{MockAction: &gnomonv1.MockAction{}}}},
		Status: &gnomonv1.Status{Conditions: conditions},
	}
}

// Issue 4, 7: accepted, by method and kind: what was answered without an error and was
// not only validated.
func TestAcceptedIsCounted(t *testing.T) {
	t.Parallel()
	r, f, _ := registry(t)
	call := func(method string, req, reply any, err error) {
		t.Helper()
		got, gotErr := f.countAccepted(t.Context(), req, &grpc.UnaryServerInfo{FullMethod: "/gnomon.v1.ActionService/" + method},
			func(context.Context, any) (any, error) { return reply, err })
		require.Equal(t, reply, got)
		require.Equal(t, err, gotErr)
	}
	create := &gnomonv1.CreateActionRequest{}
	validate := &gnomonv1.CreateActionRequest{ValidateOnly: true}
	call("CreateAction", create, mock(), nil)
	call("CreateAction", create, nil, errors.New("refused"))
	call("CreateAction", validate, mock(), nil)
	call("GetAction", &gnomonv1.GetActionRequest{}, mock(), nil)
	require.InDelta(t, 1, value(t, r, "gnomon_accepted_total", "method", "CreateAction", "kind", "mock_action"), 0)
	require.Nil(t, series(t, r, "gnomon_accepted_total", "method", "GetAction"))

	call("BatchCreateActions", &gnomonv1.BatchCreateActionsRequest{Requests: []*gnomonv1.CreateActionRequest{create, create, validate}},
		&gnomonv1.BatchCreateActionsResponse{Results: []*gnomonv1.BatchCreateActionsResponse_Result{
			{Action: mock()}, {Error: &gnomonv1.BatchCreateActionsResponse_Error{}}, {Action: mock()},
		}}, nil)
	require.InDelta(t, 2, value(t, r, "gnomon_accepted_total", "method", "CreateAction", "kind", "mock_action"), 0)

	left := &gnomonv1.Condition{Type: "Applied", Status: gnomonv1.Condition_FALSE}
	call("PauseAction", &gnomonv1.PauseActionRequest{}, mock(left), nil)
	call("DeleteAction", &gnomonv1.DeleteActionRequest{}, &gnomonv1.ScheduledAction{Meta: &gnomonv1.Meta{Id: "secret-canary"}}, nil)
	require.InDelta(t, 1, value(t, r, "gnomon_commands_left_total", "method", "PauseAction"), 0)
	require.Zero(t, value(t, r, "gnomon_commands_left_total", "method", "DeleteAction"))
	require.InDelta(t, 1, value(t, r, "gnomon_accepted_total", "method", "DeleteAction", "kind", "unknown"), 0)
}
