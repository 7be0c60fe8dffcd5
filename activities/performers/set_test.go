package performers_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	gnomonv1 "gnomon/api/gnomon/v1"

	"gnomon/activities/performers"
)

// M-02: every case that the contract has is performed, so that a case added without
// its line of registration fails here.
func TestSetHasEveryCaseOfTheOneof(t *testing.T) {
	t.Parallel()
	s := newSet(t, performers.Config{AllowMock: true})
	cases := (&gnomonv1.Action{}).ProtoReflect().Descriptor().Oneofs().ByName("action").Fields()
	for i := range cases.Len() {
		require.Contains(t, s, string(cases.Get(i).Name()))
	}
	require.Len(t, s, cases.Len())
}

// M-03: mock actions only where the installation allows them.
func TestSetRefusesMockActionsByDefault(t *testing.T) {
	t.Parallel()
	_, err := newSet(t, performers.Default()).For(mockAction(&gnomonv1.MockAction{}))
	require.True(t, performers.IsPermanent(err))
	require.EqualError(t, err, "action.mock_action: mock actions are not allowed in this installation")
}

// M-02: an action that this worker does not know is a final failure.
func TestSetRefusesUnknownAndUnsetCases(t *testing.T) {
	t.Parallel()
	for name, a := range map[string]*gnomonv1.Action{"nil": nil, "unset": {}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := newSet(t, performers.Default()).For(a)
			require.True(t, performers.IsPermanent(err))
			require.EqualError(t, err, "action: no case is set that this worker knows")
		})
	}
	_, err := performers.Set{}.For(&gnomonv1.Action{Action: &gnomonv1.Action_HttpRequest{}})
	require.True(t, performers.IsPermanent(err))
	require.EqualError(t, err, "action.http_request: this worker has no performer for it")
}

// M-02: a performer that is handed another's action says so instead of acting.
func TestPerformersRefuseTheActionsOfOthers(t *testing.T) {
	t.Parallel()
	for kind, p := range newSet(t, performers.Config{AllowMock: true}) {
		_, err := p.Perform(t.Context(), request(&gnomonv1.Action{}))
		require.ErrorContains(t, err, "action."+kind)
		require.True(t, performers.IsPermanent(err), kind)
	}
}

func TestPermanentIsFoundThroughWrapping(t *testing.T) {
	t.Parallel()
	inner := errors.New("no such room")
	err := fmt.Errorf("attempt 3: %w", performers.Permanent(inner))
	require.True(t, performers.IsPermanent(err))
	require.ErrorIs(t, err, inner)
	require.EqualError(t, err, "attempt 3: no such room")

	require.False(t, performers.IsPermanent(inner))
	require.False(t, performers.IsPermanent(nil))
	require.NoError(t, performers.Permanent(nil))
}
