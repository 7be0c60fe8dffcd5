package cli

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// fileName is the first line of a block that is a file of this name.
var fileName = regexp.MustCompile(`^[#;] (\S+\.(?:yaml|zone))\n`)

var fence = regexp.MustCompile("(?ms)^```(\\w+)\n(.*?)^```$")

// Every command of these pages is executed, in order, against one server for each page.
func TestDocumentedCommandsWork(t *testing.T) {
	t.Parallel()
	for page, holds := range map[string]struct{ files, commands int }{
		"cli.md":   {files: 5, commands: 56},
		"nodes.md": {files: 1, commands: 8},
	} {
		t.Run(page, func(t *testing.T) {
			t.Parallel()
			files, commands := documented(t, page)
			require.Len(t, files, 2*holds.files)
			require.GreaterOrEqual(t, len(commands), holds.commands)
			fake := startFake(t)
			fake.occurrences = []time.Time{testNow.Add(time.Hour)}
			replaced := strings.NewReplacer(append(files, "127.0.0.1:7700", fake.address)...)
			for _, command := range commands {
				fake.willShowTheEnd(t, command)
				stdin := ""
				for stage := range strings.SplitSeq(command, " | ") {
					in := invocation{stdin: stdin, getenv: map[string]string{"GNOMON_ADDRESS": fake.address}}
					got := in.run(t.Context(), words(t, replaced.Replace(stage))[1:]...)
					require.Equal(t, ExitOK, got.code, "%s: %s", command, got.stderr)
					stdin = got.stdout
				}
				require.NotEmpty(t, stdin, command)
			}
		})
	}
}

// documented are the files of a page, each by its name and where it is, and its commands.
func documented(t *testing.T, name string) (files, commands []string) {
	t.Helper()
	page, err := os.ReadFile("../docs/" + name)
	require.NoError(t, err)
	for _, block := range fence.FindAllStringSubmatch(string(page), -1) {
		if name := fileName.FindStringSubmatch(block[2]); name != nil {
			files = append(files, name[1], writeFile(t, name[1], block[2]))
		}
		if block[1] != "sh" {
			continue
		}
		for line := range strings.Lines(block[2]) {
			line = strings.TrimSpace(line)
			require.True(t, strings.HasPrefix(line, "gnomon "), line)
			commands = append(commands, line)
		}
	}
	return files, commands
}

// willShowTheEnd has what a command follows end well at once.
func (f *fakeServer) willShowTheEnd(t *testing.T, command string) {
	t.Helper()
	switch {
	case strings.Contains(command, " batch watch "):
		f.batches.changes <- release(t, gnomonv1.BatchStatus_COMPLETE)
	case strings.Contains(command, " node watch "), strings.Contains(command, " node run ") && strings.Contains(command, " --wait "):
		f.clusters.changes <- restart(t, gnomonv1.NodeAction_DONE)
	case strings.Contains(command, " playbook ") && strings.HasSuffix(command, " --watch"):
		f.playbooks.changes <- upgrade(t, gnomonv1.PlaybookStatus_DONE, gnomonv1.NodeAction_DONE)
	case strings.Contains(command, " entity watch "):
		f.entities.deletesSoon()
	case strings.Contains(command, " watch "):
		f.changes <- succeeded(t)
	}
}

// Every command of an example can at least be parsed: its flags exist.
func TestExamplesHaveKnownFlags(t *testing.T) {
	t.Parallel()
	root := New("v")
	var all []*cobra.Command
	for _, group := range []string{"action", "batch", "node", "playbook", "entity", "entity state", "stage"} {
		cmd, _, err := root.Find(strings.Fields(group))
		require.NoError(t, err)
		all = append(all, cmd.Commands()...)
	}
	for _, cmd := range all {
		for line := range strings.Lines(cmd.Example) {
			for stage := range strings.SplitSeq(strings.TrimSpace(line), " | ") {
				found, rest, err := New("v").Find(words(t, stage)[1:])
				require.NoError(t, err, stage)
				require.Contains(t, stage, found.CommandPath())
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
