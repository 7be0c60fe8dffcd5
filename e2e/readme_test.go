package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gnomon/cli"
	"gnomon/faults/processes"
	"gnomon/serve"
)

// documented are the pages whose commands are executed here; docs/cli.md and
// docs/nodes.md have a test of their own in package cli.
func documented(t *testing.T) []string {
	t.Helper()
	pages, err := filepath.Glob("../docs/*.md")
	require.NoError(t, err)
	pages = slices.DeleteFunc(pages, func(p string) bool { return filepath.Base(p) == "cli.md" })
	require.NotEmpty(t, pages)
	return append(pages, "../README.md")
}

// fenced is a block of a page: its kind, such as "sh" or "text shows", and its text.
type fenced struct{ kind, text string }

var fence = regexp.MustCompile("(?ms)^```([^\n]*)\n(.*?)^```$")

func blocks(t *testing.T, page string) []fenced {
	t.Helper()
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	var all []fenced
	for _, match := range fence.FindAllStringSubmatch(string(text), -1) {
		all = append(all, fenced{match[1], match[2]})
	}
	return all
}

// Every command of the documentation works, in order, and shows what the
// documentation says that it shows.
func TestDocumentedCommandsWork(t *testing.T) {
	t.Parallel()
	for _, page := range documented(t) {
		all := blocks(t, page)
		if filepath.Base(page) == "nodes.md" {
			continue // its cluster has agents, which package cli's test of it does without
		}
		if !slices.ContainsFunc(all, func(b fenced) bool { return b.kind == "sh" }) {
			continue
		}
		t.Run(filepath.Base(page), func(t *testing.T) {
			t.Parallel()
			follow(t, all)
		})
	}
}

// follow executes the commands of a page against a gnomon-dev of its own.
func follow(t *testing.T, all []fenced) {
	t.Helper()
	stages, err := filepath.Abs("../examples/stages/stages.yaml")
	require.NoError(t, err)
	dev, at := runDev(t, "--ephemeral", "--agents", "3", "--stages", stages)
	outputs := runBlocks(t, at, all)
	shown, ran := "", 0
	for _, b := range all {
		switch b.kind {
		case "sh":
			shown = outputs[ran]
			ran++
		case "text shows":
			requireShown(t, shown, b.text)
		case "text receiver":
			for line := range strings.Lines(b.text) {
				fragments := strings.Split(strings.TrimSpace(line), "…")
				requireShown(t, dev.says(t, dev.err, strings.TrimSpace(fragments[0])), line)
			}
		}
	}
	require.Equal(t, len(outputs), ran)
}

// blockEnd ends the output of a block.
const blockEnd = "--- end of a block ---"

// runBlocks executes the blocks in one shell, as a person would who types them, and
// gives the output of each.
func runBlocks(t *testing.T, at devAddresses, all []fenced) []string {
	t.Helper()
	program, err := os.Executable()
	require.NoError(t, err)
	script := "set -eu -o pipefail\n"
	count := 0
	for _, b := range all {
		if b.kind == "sh" {
			script += b.text + "\necho; echo '" + blockEnd + "'\n"
			count++
		}
	}
	script = strings.NewReplacer(
		"go run ./cmd/gnomon ", processes.RoleVariable+"=gnomon '"+program+"' ",
		"127.0.0.1:7233", at.Temporal, "127.0.0.1:8233", at.UI, "127.0.0.1:7700", at.GRPC,
		"127.0.0.1:7780", at.HTTP, "127.0.0.1:7790", at.Receiver, "127.0.0.1:7792", at.Metrics,
	).Replace(script)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	shell := exec.CommandContext(ctx, "bash", "-c", script)
	shell.Dir = t.TempDir()
	shell.Env = append(processes.Quiet(os.Environ()), "GNOMON_ADDRESS="+at.GRPC)
	said, err := shell.CombinedOutput()
	outputs := strings.Split(string(said), blockEnd+"\n")
	require.NoError(t, err, "block %d of %d: %s", len(outputs), count, outputs[len(outputs)-1])
	require.Len(t, outputs, count+1)
	return outputs[:count]
}

// requireShown looks for the lines of want, one after the other; … stands for
// anything within a line. Spaces do not count: tables are aligned by what is in them,
// and JSON of protobuf has its spaces by chance.
func requireShown(t *testing.T, shown, want string) {
	t.Helper()
	var pattern []string
	for line := range strings.Lines(want) {
		var fragments []string
		for fragment := range strings.SplitSeq(line, "…") {
			fragments = append(fragments, regexp.QuoteMeta(packed(fragment)))
		}
		pattern = append(pattern, strings.Join(fragments, `.*`))
	}
	require.Regexp(t, strings.Join(pattern, `(?s:.*)`), packed(shown))
}

func packed(s string) string {
	var lines []string
	for line := range strings.Lines(s) {
		lines = append(lines, strings.Join(strings.Fields(line), ""))
	}
	return strings.Join(lines, "\n")
}

// elsewhere are the beginnings of commands that need other software, or another
// process in another terminal, and so are in blocks marked console.
var elsewhere = []string{
	"go run ./cmd/gnomon-dev", "make ", "go run ./cmd/gnomon starter", "go run ./cmd/gnomon worker", "go run ./cmd/gnomon agent",
	"go run ./cmd/gnomon reconcile", "go run ./cmd/gnomon migrate", "go run ./faults/judge ",
	"temporal ", "grpcurl ", "go build ", "go test ", "git ",
	"curl -sS --fail-with-body http://127.0.0.1:7780/v1/clusters/", // needs an agent of that cluster
	"docker compose ", "cp .env.example .env", // package deploy/compose has their test
}

// Blocks that are not executed hold nothing that could be, and the flags in them
// exist.
func TestDocumentedCommandsThatAreNotRun(t *testing.T) {
	t.Parallel()
	known := []string{"sh", "console", "text", "text shows", "text receiver", "mermaid", "go", "proto", "json", "yaml"}
	for _, page := range documented(t) {
		for _, b := range blocks(t, page) {
			require.Contains(t, known, b.kind, page)
			if b.kind != "console" {
				continue
			}
			for line := range strings.Lines(strings.ReplaceAll(b.text, "\\\n", " ")) {
				line = strings.TrimSpace(line)
				require.True(t, slices.ContainsFunc(elsewhere, func(e string) bool { return strings.HasPrefix(line, e) }), "%s: %s", page, line)
				if rest, ok := strings.CutPrefix(line, "go run ./cmd/gnomon "); ok {
					root := cli.New("e2e")
					root.AddCommand(serve.Starter("e2e"), serve.Worker("e2e"), serve.Agent("e2e"), serve.Reconcile(), serve.Migrate())
					cmd, args, err := root.Find(strings.Fields(rest))
					require.NoError(t, err, line)
					require.NoError(t, cmd.ParseFlags(args), line)
				}
			}
		}
	}
}

// The Go of the documentation compiles: it is the body of a function of these tests.
func TestDocumentedGoCompiles(t *testing.T) {
	t.Parallel()
	code, err := os.ReadFile("readme_client_test.go")
	require.NoError(t, err)
	found := 0
	for _, page := range documented(t) {
		for _, b := range blocks(t, page) {
			if b.kind == "go" {
				found++
				require.Contains(t, string(code), indented(b.text), page)
			}
		}
	}
	require.NotZero(t, found)
}

func indented(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		fmt.Fprintf(&b, "\t%s", line)
	}
	return b.String()
}

var (
	reasonName = regexp.MustCompile(`(?:reason|[Rr]ule)[A-Z]\w* += "([A-Z_0-9]+)"`)
	reasonCall = regexp.MustCompile(`(?:refuse|unavailable|internal|failedPrecondition)\((?:codes\.\w+, )?"([A-Z_0-9]+)"`)
	reasonRow  = regexp.MustCompile(`codes\.\w+, "([A-Z_0-9]+)"`)
	pictures   = regexp.MustCompile(`!\[[^\]]*\]\(([^)]+)\)|\]\(([^)#:]+)(?:#[^)]*)?\)`)
)

// docs/api.md names every reason that an error can have (P-01).
func TestDocumentedReasonsAreAll(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../docs/api.md")
	require.NoError(t, err)
	files, err := filepath.Glob("../starter/*.go")
	require.NoError(t, err)
	found := 0
	for _, file := range append(files, "../action/validate.go") {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		code, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, pattern := range []*regexp.Regexp{reasonName, reasonCall, reasonRow} {
			for _, match := range pattern.FindAllStringSubmatch(string(code), -1) {
				found++
				require.Contains(t, string(page), "`"+match[1]+"`", file)
			}
		}
	}
	require.Greater(t, found, 50)
}

// Every page and picture that the documentation points to is there.
func TestDocumentedLinksLead(t *testing.T) {
	t.Parallel()
	for _, page := range append(documented(t), "../docs/cli.md") {
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		for _, match := range pictures.FindAllStringSubmatch(string(text), -1) {
			_, err := os.Stat(filepath.Join(filepath.Dir(page), match[1]+match[2]))
			require.NoError(t, err, page)
		}
	}
}
