package performers_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"gnomon/activities/performers"
)

// AttemptStatus.reply, AttemptStatus.error: at most 1 KiB, and valid UTF-8 since
// protobuf refuses anything else.
func TestShorten(t *testing.T) {
	t.Parallel()
	require.Equal(t, "short", performers.Shorten("short"))
	require.Equal(t, strings.Repeat("x", 1024), performers.Shorten(strings.Repeat("x", 1024)))
	require.Equal(t, strings.Repeat("x", 1021)+"…", performers.Shorten(strings.Repeat("x", 1025)))
	require.Equal(t, "a\uFFFDb", performers.Shorten("a\xff\xfeb"))
	// 1021 is in the middle of a rune of three bytes.
	require.Equal(t, strings.Repeat("€", 340)+"…", performers.Shorten(strings.Repeat("€", 400)))
}

func TestShortenIsAlwaysFitForAnAttemptsStatus(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Repeat(string(rapid.SliceOfN(rapid.Byte(), 1, 40).Draw(t, "text")), rapid.IntRange(1, 100).Draw(t, "times"))
		short := performers.Shorten(text)
		require.True(t, utf8.ValidString(short))
		require.LessOrEqual(t, len(short), performers.MaxTextBytes)
	})
}
