package changes_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/changes"
)

// judge finds a problem in every change it is given.
type judge struct {
	name string
	err  error
}

func (j judge) Name() string { return j.name }

func (j judge) Validate(_ context.Context, _ changes.Batch, all []changes.Subject) ([]*gnomonv1.Problem, error) {
	var found []*gnomonv1.Problem
	for _, one := range all {
		found = append(found, changes.Soft(one.Index, "SEEN", j.name, "seen by %s", j.name))
	}
	return found, j.err
}

func (judge) TimeLimit(*gnomonv1.Change) time.Duration { return time.Minute }

func (j judge) Apply(context.Context, changes.Batch, changes.Subject, changes.Turn) error {
	return changes.Reject(errors.New("no"))
}

func ofHTTP(index int) changes.Subject {
	return changes.Subject{Index: index, Change: &gnomonv1.Change{Change: &gnomonv1.Change_HttpChange{HttpChange: &gnomonv1.HttpChange{}}}}
}

func ofDNS(index int) changes.Subject {
	return changes.Subject{Index: index, Change: &gnomonv1.Change{Change: &gnomonv1.Change_DnsRecord{DnsRecord: &gnomonv1.DnsRecordChange{}}}}
}

// V-03: all problems of all changes at once, each with its change's index.
func TestProblemsOfAllKindsComeInTheOrderOfTheChanges(t *testing.T) {
	t.Parallel()
	set, err := changes.NewSet(judge{name: "http_change"})
	require.NoError(t, err)
	found, err := set.Validate(t.Context(), changes.Batch{}, []changes.Subject{
		ofHTTP(0), ofDNS(1), ofHTTP(2), {Index: 3, Change: &gnomonv1.Change{}},
	})
	require.NoError(t, err)
	var got []string
	for _, p := range found {
		got = append(got, fmt.Sprintf("%d %s %s", p.GetChangeIndex(), p.GetSeverity(), p.GetCode()))
	}
	require.Equal(t, []string{"0 SOFT SEEN", "1 HARD UNKNOWN_KIND", "2 SOFT SEEN", "3 HARD UNKNOWN_KIND"}, got)
}

func TestAKindThatCannotJudgeIsAnError(t *testing.T) {
	t.Parallel()
	set, err := changes.NewSet(judge{name: "http_change", err: errors.New("no answer")})
	require.NoError(t, err)
	_, err = set.Validate(t.Context(), changes.Batch{}, []changes.Subject{ofHTTP(0)})
	require.EqualError(t, err, "http_change: no answer")
}

func TestKindsAreRegisteredOnce(t *testing.T) {
	t.Parallel()
	_, err := changes.NewSet(judge{name: "a"}, judge{name: "a"})
	require.ErrorContains(t, err, `"a" is registered twice`)
}

// V-12: a rejection is told from what did not answer, however it is wrapped.
func TestRejections(t *testing.T) {
	t.Parallel()
	set, err := changes.NewSet(judge{name: "http_change"})
	require.NoError(t, err)
	require.True(t, changes.IsRejected(fmt.Errorf("change 3: %w", set.Apply(t.Context(), changes.Batch{}, ofHTTP(0), changes.Turn{}))))
	err = set.Apply(t.Context(), changes.Batch{}, ofDNS(0), changes.Turn{})
	require.Error(t, err)
	require.False(t, changes.IsRejected(err))
	require.NoError(t, changes.Reject(nil))
}

func TestLimitsAreTheKinds(t *testing.T) {
	t.Parallel()
	set, err := changes.NewSet(judge{name: "http_change"})
	require.NoError(t, err)
	require.Equal(t, time.Minute, set.TimeLimit(ofHTTP(0).Change))
	require.Equal(t, 10*time.Second, set.TimeLimit(ofDNS(0).Change))
}

// V-14: nothing is sent once a turn is over.
func TestTurnsEnd(t *testing.T) {
	t.Parallel()
	require.NoError(t, changes.Turn{Expires: time.Now().Add(time.Hour)}.Check())
	require.ErrorIs(t, changes.Turn{Expires: time.Now()}.Check(), changes.ErrExpired)
}
