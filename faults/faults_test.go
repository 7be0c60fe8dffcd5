package main

import (
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gnomon/faults/roles"
	"gnomon/faults/scenarios"
	"gnomon/faults/site"
)

func TestMain(m *testing.M) {
	if roles.Asked() {
		os.Exit(roles.Play())
	}
	os.Exit(m.Run())
}

// shortTolerance is for a machine that runs all other tests meanwhile: the times of
// faults.md are held by `make faults`, here it is the promises.
const shortTolerance = 10 * time.Second

// shortStretch is how long the store is unwell: some fifty actions.
const shortStretch = 8 * time.Second

// faults.md: F1, F2, F3, F4, F9, F10 and F14, and F6 on YDB's double, in their short
// form, a minute at most.
func TestShortForm(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it takes most of a minute")
	}
	short := scenarios.Scale{
		WorkerKills: 3, TemporalKills: 1, FacadeKills: 2, LostAnswers: 40, Races: 16, Barriers: 1,
		Stretch: shortStretch, Tolerance: shortTolerance,
	}
	some, err := scenarios.Of([]string{"F1", "F2", "F3", "F9", "F10"})
	require.NoError(t, err)
	onYDB, err := chosen([]string{"F6"}, site.YDB)
	require.NoError(t, err)
	some = append(some, onYDB...)
	for _, s := range some {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			v, err := scenarios.Run(t.Context(), s, short, t.TempDir(), t.Logf)
			require.NoError(t, err)
			for _, f := range v.Figures {
				t.Logf("%s %s: %s", f.Fault, f.Name, f.Value)
			}
			require.Empty(t, v.Broken)
			require.Zero(t, v.BrokenCount)
			for _, fault := range s.Faults {
				require.Positive(t, v.Injections[fault], "%s was not injected", fault)
			}
		})
	}
}
