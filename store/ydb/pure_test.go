package ydb

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"gnomon/store/internal/mirror"
)

// What begins with a prefix lies from it to afterPrefix, and nothing else does.
func TestAfterPrefixBoundsWhatBeginsWithIt(t *testing.T) {
	t.Parallel()
	for prefix, want := range map[string]string{
		"": "", "a": "b", "a\x7f": "a\u0080", "\ud7ff": "\ue000", "a\U0010ffff": "b", "\U0010ffff": "",
	} {
		require.Equal(t, want, afterPrefix(prefix), "%q", prefix)
	}
	rapid.Check(t, func(t *rapid.T) {
		prefix, other := rapid.String().Draw(t, "prefix"), rapid.String().Draw(t, "other")
		before := afterPrefix(prefix)
		require.True(t, utf8.ValidString(before))
		for _, s := range []string{other, prefix + other} {
			between := s >= prefix && (before == "" || s < before)
			require.Equal(t, strings.HasPrefix(s, prefix), between, "%q", s)
		}
	})
}

// A label is found in the column exactly where the row has it.
func TestLabelsAreFoundWhole(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.SampledFrom([]string{"", "a", "b", "=", "&", "a=b", "&a=b&", "%26", "+", " ", "é", "\x00"})
		labels := rapid.MapOf(word, word).Draw(t, "labels")
		key, value := word.Draw(t, "key"), word.Draw(t, "value")
		had, ok := labels[key]
		require.Equal(t, ok && had == value, strings.Contains(labelsText(labels), "&"+labelText(key, value)+"&"))
	})
}

// Rows of an id keep their order, no statement has an id twice, none is too big but
// for a row that alone is, and no row is lost.
func TestRounds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var pieces []piece
		for i := range rapid.IntRange(0, 40).Draw(t, "rows") {
			pieces = append(pieces, piece{columns: mirror.Columns{
				ID: fmt.Sprint(rapid.IntRange(0, 5).Draw(t, "id")), State: 0, ScheduledAt: int64(i),
				Meta: make([]byte, rapid.SampledFrom([]int{0, 1 << 20, groupBytes}).Draw(t, "bytes")),
			}})
		}
		last := map[string]int64{}
		total := 0
		for _, round := range rounds(pieces) {
			weight, seen := 0, map[string]bool{}
			for _, p := range round {
				require.False(t, seen[p.columns.ID])
				seen[p.columns.ID] = true
				before, ok := last[p.columns.ID]
				require.True(t, !ok || before < p.columns.ScheduledAt, "an id's rows in their order")
				last[p.columns.ID] = p.columns.ScheduledAt
				weight += weighRow(p.columns)
			}
			require.True(t, weight <= groupBytes || len(round) == 1)
			total += len(round)
		}
		require.Len(t, pieces, total)
	})
}

func TestTargets(t *testing.T) {
	t.Parallel()
	for connection, want := range map[string]target{
		"grpc://h:1/local":                        {false, "h:1", "/local", "/local", "grpc://h:1/local"},
		"grpcs://h:1/a/b/?directory=/c/d/":        {true, "h:1", "/a/b", "/a/b/c/d", "grpcs://h:1/a/b/"},
		"grpc://h:1/?database=/local&directory=x": {false, "h:1", "/local", "/local/x", "grpc://h:1/?database=%2Flocal"},
		"grpc://h:1?database=local":               {false, "h:1", "/local", "/local", "grpc://h:1?database=local"},
		"grpc://[::1]:1/local":                    {false, "[::1]:1", "/local", "/local", "grpc://[::1]:1/local"},
	} {
		got, err := parseTarget(connection)
		require.NoError(t, err, connection)
		require.Equal(t, want, got, connection)
	}
}

func TestErrorsOfTheSDKAreLegible(t *testing.T) {
	t.Parallel()
	cause := errors.New("cause")
	err := legible(fmt.Errorf("failed (credentials:\"Static{User:\\\"u\\\"}\",database:\"d\",credentials:\"Static{User:\\\"u\\\"}\"): %w at `file.go(func:1)`: Static{User:\"u\",Password:\"p******d\",From:\"x\"}", cause))
	require.NotContains(t, err.Error(), "file.go")
	require.NotContains(t, err.Error(), "p******d")
	require.ErrorIs(t, err, cause)
	require.Equal(t, cause, legible(cause))
}

// M-45: YDB's Timestamp is from 1970 to 2105; a clock that is before or after is at its end.
func TestTimestampsOfWrongClocks(t *testing.T) {
	t.Parallel()
	for at, want := range map[time.Time]string{
		time.Date(1960, 1, 1, 0, 0, 0, 0, time.UTC):       "1970-01-01T00:00:00.000000Z",
		time.Date(2026, 11, 20, 1, 2, 3, 4000, time.UTC):  "2026-11-20T01:02:03.000004Z",
		time.Date(2105, 12, 31, 23, 59, 0, 0, time.UTC):   "2105-12-31T23:59:00.000000Z",
		time.Date(2106, 1, 1, 0, 0, 0, 0, time.UTC):       "2105-12-31T23:59:59.999999Z",
		time.Date(292000, 12, 31, 23, 59, 0, 0, time.UTC): "2105-12-31T23:59:59.999999Z",
	} {
		require.Equal(t, `Timestamp("`+want+`")`, timestamp(at).Yql(), "%s", at)
	}
}
