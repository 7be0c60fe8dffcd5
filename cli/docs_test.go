package cli

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var fence = regexp.MustCompile("(?ms)^```(\\w+)\n(.*?)^```$")

// Every command of docs/cli.md is executed, in order, against one server.
func TestDocumentedCommandsWork(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../docs/cli.md")
	require.NoError(t, err)
	fake := startFake(t)
	fake.occurrences = []time.Time{testNow.Add(time.Hour)}
	var file string
	var commands []string
	for _, block := range fence.FindAllStringSubmatch(string(page), -1) {
		switch block[1] {
		case "yaml":
			file = writeFile(t, "actions.yaml", block[2])
		case "sh":
			for line := range strings.Lines(block[2]) {
				commands = append(commands, strings.TrimSpace(line))
			}
		}
	}
	require.NotEmpty(t, file)
	require.Greater(t, len(commands), 20)
	for _, command := range commands {
		require.True(t, strings.HasPrefix(command, "gnomon "), command)
		if strings.Contains(command, " watch ") {
			fake.changes <- succeeded(t)
		}
		stdin := ""
		for stage := range strings.SplitSeq(command, " | ") {
			stage = strings.ReplaceAll(stage, "actions.yaml", file)
			stage = strings.ReplaceAll(stage, "127.0.0.1:7700", fake.address)
			in := invocation{stdin: stdin, getenv: map[string]string{"GNOMON_ADDRESS": fake.address}}
			got := in.run(t.Context(), words(t, stage)[1:]...)
			require.Equal(t, ExitOK, got.code, "%s: %s", command, got.stderr)
			stdin = got.stdout
		}
		require.NotEmpty(t, stdin, command)
	}
}

// Every command of an example can at least be parsed: its flags exist.
func TestExamplesHaveKnownFlags(t *testing.T) {
	t.Parallel()
	root := New("v")
	action, _, err := root.Find([]string{"action"})
	require.NoError(t, err)
	for _, cmd := range action.Commands() {
		for line := range strings.Lines(cmd.Example) {
			for stage := range strings.SplitSeq(strings.TrimSpace(line), " | ") {
				found, rest, err := New("v").Find(words(t, stage)[1:])
				require.NoError(t, err, stage)
				require.Contains(t, stage, "gnomon action "+found.Name())
				require.NoError(t, found.ParseFlags(rest), stage)
			}
		}
	}
}

// words splits a line as a shell does, as far as single quotes go.
func words(t *testing.T, line string) []string {
	t.Helper()
	var found []string
	for i, part := range strings.Split(line, "'") {
		if i%2 == 1 {
			found = append(found, part)
			continue
		}
		require.NotContains(t, part, `"`, "this test knows single quotes only")
		found = append(found, strings.Fields(part)...)
	}
	require.Zero(t, strings.Count(line, "'")%2, line)
	return found
}
