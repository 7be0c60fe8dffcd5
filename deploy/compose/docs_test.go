package compose

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// composeFlags are the verbs of docker compose that the documentation has, with the flags
// that it gives them; none takes a value.
var composeFlags = map[string][]string{
	"build": nil,
	"down":  {"--volumes"},
	"exec":  nil,
	"logs":  {"--follow"},
	"ps":    nil,
	"run":   {"--rm"},
	"up":    {"--build", "--detach", "--no-deps", "--wait"},
}

// documented matches a command of docker compose, in a block or within a line.
var documented = regexp.MustCompile("docker compose ((?:[a-z]+)(?: [^\\n`]*)?)")

// Each command of docker compose in the documentation, and in the file itself, is of a
// service of the file, and what it runs there is gnomon's.
func TestDocumentedCommands(t *testing.T) {
	t.Parallel()
	p := project(t)
	pages, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	require.NoError(t, err)
	found := 0
	for _, page := range append(pages, filepath.Join(root, "README.md"), filepath.Join(root, "docker-compose.yml")) {
		name, err := filepath.Rel(root, page)
		require.NoError(t, err)
		body := strings.ReplaceAll(text(t, name), "docker compose\n", "docker compose ")
		for _, match := range documented.FindAllStringSubmatch(body, -1) {
			line := strings.Fields(match[1])
			flags, known := composeFlags[line[0]]
			if !known {
				require.NotContains(t, body, "\n"+match[0], "%s: no verb is called %s", name, line[0])
				continue // a sentence about docker compose
			}
			found++
			rest := line[1:]
			for len(rest) > 0 && strings.HasPrefix(rest[0], "-") {
				require.Contains(t, flags, rest[0], "%s: %s", name, match[0])
				rest = rest[1:]
			}
			if slices.Contains([]string{"exec", "run"}, line[0]) {
				require.NotEmpty(t, rest, match[0])
				service, ok := p.Services[rest[0]]
				require.True(t, ok, "%s: %s", name, match[0])
				require.NotNil(t, service.Build, match[0])
				ran := rest[1:]
				if line[0] == "exec" {
					require.Equal(t, program, ran[0], match[0])
					_, wrong := parsed(rest[0], ran[1:])
					require.Empty(t, wrong, match[0])
				} else {
					require.Empty(t, ran, "its own command runs: %s", match[0])
				}
				continue
			}
			for _, service := range rest {
				require.Contains(t, p.Services, service, "%s: %s", name, match[0])
			}
		}
	}
	require.Greater(t, found, 12)
}

// The table of addresses in the documentation has all ports that are published.
func TestDocumentedPorts(t *testing.T) {
	t.Parallel()
	_, section, ok := strings.Cut(text(t, "docs/operations.md"), "### All of it with Docker Compose\n")
	require.True(t, ok)
	section, _, _ = strings.Cut(section, "\n### ")
	var listed []string
	for line := range strings.Lines(section) {
		if row := strings.Split(line, "|"); len(row) == 4 {
			listed = append(listed, regexp.MustCompile(`\b\d{4}\b`).FindAllString(row[1], -1)...)
		}
	}
	have := make([]string, 0, len(published))
	for port := range published {
		have = append(have, port)
	}
	require.ElementsMatch(t, have, listed)
}
