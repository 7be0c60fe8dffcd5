package main

import (
	"bytes"
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"gnomon/faults/scenarios"
	"gnomon/faults/verdict"
)

// What measures times is played alone, the others two at a time, and one that fails
// keeps no other from it.
func TestLanes(t *testing.T) {
	t.Parallel()
	some := []scenarios.Scenario{
		{Name: "slow", Faults: []string{"F2"}},
		{Name: "timed", Faults: []string{"F1"}, Alone: true},
		{Name: "quick", Faults: []string{"F10"}},
		{Name: "broken down", Faults: []string{"F5"}, Alone: true},
		{Name: "last", Faults: []string{"F9"}},
	}
	var running atomic.Int32
	both := make(chan struct{}, 2)
	all := playAll(t.Context(), some, func(_ context.Context, s scenarios.Scenario) (*verdict.Verdict, error) {
		at := running.Add(1)
		defer running.Add(-1)
		switch s.Name {
		case "timed":
			require.EqualValues(t, 1, at)
		case "broken down":
			require.EqualValues(t, 1, at)
			return nil, errors.New("it did not start")
		case "slow": // ends only when another runs beside it
			<-both
		case "quick":
			both <- struct{}{}
		}
		require.LessOrEqual(t, at, int32(lanes))
		return &verdict.Verdict{Scenario: s.Name, Injections: map[string]int{s.Faults[0]: 3, "F4": 2}}, nil
	})
	require.Len(t, all, len(some))
	for n, p := range all {
		require.Equal(t, some[n].Name, p.scenario.Name)
		require.Equal(t, p.scenario.Name == "broken down", p.verdict == nil)
	}
	require.Equal(t, 3, injected(all, "F1"))
	require.Equal(t, 4*2, injected(all, "F4"), "answers are lost in many scenarios")
	require.False(t, zeros(all))
	require.Len(t, short(all), len(goals))

	var out bytes.Buffer
	table(&out, all, true)
	require.Contains(t, out.String(), "NOT PLAYED: it did not start")
	require.Contains(t, out.String(), "3 TOO FEW")
	require.Contains(t, out.String(), "limits that held by the tolerance only: 0")

	// What holds by the tolerance only is not hidden behind a zero.
	all[1].verdict.Tolerated = []string{"F1: 2 of 9 attempts"}
	out.Reset()
	table(&out, all, false)
	require.Regexp(t, `(?m)^F1 +3 +0, 1 by the tolerance only *$`, out.String())
	require.Contains(t, out.String(), "BY THE TOLERANCE ONLY in")
	require.Contains(t, out.String(), "promises broken: 0; limits that held by the tolerance only: 1")
}

// A run that is told to end plays no more.
func TestLanesEnd(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	all := playAll(ctx, scenarios.All(), func(context.Context, scenarios.Scenario) (*verdict.Verdict, error) {
		cancel()
		return &verdict.Verdict{}, nil
	})
	require.NotNil(t, all[0].verdict)
	require.ErrorIs(t, all[len(all)-1].err, context.Canceled)
}

// A full run reaches the goals of issue 3.
func TestGoals(t *testing.T) {
	t.Parallel()
	s := scenarios.Full()
	full := map[string]int{
		"F1": s.WorkerKills, "F2": s.TemporalKills, "F3": s.FacadeKills, "F4": s.LostAnswers, "F10": s.Races,
	}
	all := []played{{scenario: scenarios.Scenario{Faults: []string{"F1", "F2", "F3", "F10"}}, verdict: &verdict.Verdict{Injections: full}}}
	others := []played{{verdict: &verdict.Verdict{Injections: map[string]int{"F4": 5_000}}}}
	require.Empty(t, short(append(all, others...)))
	require.True(t, zeros(all))
	all[0].verdict.Injections["F2"]--
	require.Equal(t, "F2", short(append(all, others...))[0].fault)
}
