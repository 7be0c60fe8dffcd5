package performers_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	gnomonv1 "gnomon/api/gnomon/v1"

	"gnomon/activities/performers"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// newSet makes the performers of c for one test.
func newSet(t *testing.T, c performers.Config) performers.Set {
	t.Helper()
	s, err := performers.New(c)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

// performerOf finds the one for an action.
func performerOf(t *testing.T, s performers.Set, a *gnomonv1.Action) performers.Performer {
	t.Helper()
	p, err := s.For(a)
	require.NoError(t, err)
	return p
}

// request is the second attempt of an occurrence whose time has nanoseconds and is
// not in UTC.
func request(a *gnomonv1.Action) performers.Request {
	return performers.Request{
		Action:         a,
		ID:             "order:42",
		GUID:           "5f0c2d1e-guid",
		Occurrence:     time.Date(2026, 11, 21, 11, 0, 0, 120, time.FixedZone("", 3600)),
		Attempt:        2,
		IdempotencyKey: "order:42/5f0c2d1e-guid/2026-11-21T10:00:00.00000012Z",
	}
}
