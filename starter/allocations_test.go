package starter

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// Issue 8: what a create allocates in the facade, with the fakes' own part. The bound
// has some room for other versions of Go and for the race detector; a copy of the action more breaks it.
func TestAllocationsOfCreate(t *testing.T) { //nolint:paralleltest // it counts allocations
	s, _, _ := newFacade(t)
	n := 0
	got := testing.AllocsPerRun(200, func() {
		n++
		_, err := s.CreateAction(t.Context(), &gnomonv1.CreateActionRequest{Action: wantedAction(fmt.Sprint("a", n))})
		require.NoError(t, err)
	})
	t.Log(got, "allocations")
	require.LessOrEqual(t, got, 165.0)
}

// Issue 8: what Temporal is given to keep for as long as an action waits, here 256 bytes
// to be sent. A text that says again what another says breaks the bound, as do the types of
// search attributes.
func TestBytesOfCreate(t *testing.T) {
	t.Parallel()
	s, temporal, _ := newFacade(t)
	a := wantedAction("a1")
	a.Spec.Action = &gnomonv1.Action{Action: &gnomonv1.Action_HttpRequest{HttpRequest: &gnomonv1.HttpRequest{
		Url: "https://example.com/orders", Body: make([]byte, 256),
	}}}
	a.Spec.SendPolicy = &gnomonv1.SendPolicy{Policy: &gnomonv1.SendPolicy_SendOncePolicy{SendOncePolicy: &gnomonv1.SendOncePolicy{}}}
	_, err := s.CreateAction(t.Context(), &gnomonv1.CreateActionRequest{Action: a})
	require.NoError(t, err)
	require.Len(t, temporal.starts, 1)
	got := proto.Size(temporal.starts[0])
	t.Log(got, "bytes")
	require.LessOrEqual(t, got, 690)
}
