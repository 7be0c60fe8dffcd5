package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A mutant whose text has changed proves nothing and would only be found by the
// next long run.
func TestMutantsFitTheCode(t *testing.T) {
	t.Parallel()
	names := map[string]bool{}
	for _, m := range planted() {
		require.Regexp(t, `^[a-z0-9]+(-[a-z0-9]+)*$`, m.name)
		require.False(t, names[m.name], "two mutants are called %s", m.name)
		names[m.name] = true
		require.NotEmpty(t, m.requirement, m.name)
		require.NotEmpty(t, m.why, m.name)
		require.NotEmpty(t, m.tests, m.name)
		_, err := apply("..", m)
		assert.NoError(t, err, m.name)
	}
}

func TestApply(t *testing.T) {
	t.Parallel()
	const file = "mutants/doc.go"
	for name, edits := range map[string][]edit{
		"the text is gone":   alone(file, "no such text", ""),
		"the text is twice":  alone(file, "mutant", ""),
		"nothing is changed": alone(file, "package main", "package main"),
		"no such file":       alone("mutants/none.go", "", ""),
	} {
		_, err := apply("..", mutant{edits: edits})
		require.ErrorContains(t, err, edits[0].file, name)
	}
	// The second edit sees what the first one made.
	contents, err := apply("..", mutant{edits: []edit{
		{file, "package main", "package first"}, {file, "package first", "package second"},
	}})
	require.NoError(t, err)
	require.Len(t, contents, 1)
	for _, text := range contents {
		require.Contains(t, text, "package second")
	}
}

func TestVerdicts(t *testing.T) {
	t.Parallel()
	for out, test := range map[string]string{
		"ok\n":                      "",
		"--- FAIL: TestA (0.01s)\n": "TestA",
		"--- FAIL: TestA (0.01s)\n    --- FAIL: TestA/b_c (0.00s)\n--- FAIL: TestD (0s)\n": "TestA/b_c",
		"panic: no\n": "",
	} {
		calls := 0
		v := &verdicts{failed: func() { calls++ }}
		for _, half := range []string{out[:len(out)/2], out[len(out)/2:]} {
			_, err := v.Write([]byte(half))
			require.NoError(t, err)
		}
		require.Equal(t, test, v.test)
		require.Equal(t, test != "", calls > 0)
		require.False(t, v.timedOut)
	}
	v := &verdicts{}
	_, err := v.Write([]byte("panic: test timed out after 1s\nrunning tests:\n"))
	require.NoError(t, err)
	require.True(t, v.timedOut)
}

func TestChosen(t *testing.T) {
	t.Parallel()
	all := []mutant{{name: "a-one"}, {name: "a-two"}, {name: "b-one"}}
	some, err := chosen(all, []string{"*-one", "a-*"})
	require.NoError(t, err)
	require.Equal(t, all, some)
	some, err = chosen(all, []string{"b-one"})
	require.NoError(t, err)
	require.Equal(t, all[2:], some)
	_, err = chosen(all, []string{"c"})
	require.ErrorContains(t, err, "no mutant")
}
