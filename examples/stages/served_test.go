package main

import (
	"bufio"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"gnomon/examples/stages/offers"
	"gnomon/spawn"
	"gnomon/stages"
	"gnomon/stages/stagetest"
)

// serving in the environment has the test binary be the command.
const serving = "GNOMON_TEST_SERVE_STAGES"

func TestMain(m *testing.M) {
	if os.Getenv(serving) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// start runs a program that says on stderr where it listens, and gives that. It is
// interrupted when the test ends, and must end well.
func start(t *testing.T, program string, args ...string) string {
	t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Env = append(os.Environ(), serving+"=1")
	said, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, spawn.Start(cmd, 0))
	t.Cleanup(func() {
		require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
		killed := time.AfterFunc(10*time.Second, func() { _ = cmd.Process.Kill() })
		defer killed.Stop()
		require.NoError(t, cmd.Wait())
	})
	lines := bufio.NewScanner(said)
	for lines.Scan() {
		if _, address, ok := strings.Cut(lines.Text(), "at "); ok && strings.Contains(lines.Text(), "listen") {
			go func() { _, _ = io.Copy(io.Discard, said) }()
			return address
		}
	}
	t.Fatalf("%s did not say where it listens", program)
	return ""
}

// load reads a file of stages as gnomon does, with addresses instead of those in it.
func load(t *testing.T, file string, addresses ...string) *stages.Set {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "stages.yaml")
	require.NoError(t, os.WriteFile(path, []byte(strings.NewReplacer(addresses...).Replace(string(text))), 0o600))
	log := slog.New(slog.DiscardHandler)
	set, err := stages.Load(path, offers.Registry(offers.VideoConfig{}), log)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, set.Close()) })
	return set
}

// check holds a stage of a set to the contract.
func check(t *testing.T, set *stages.Set, name string, c stagetest.Case) stagetest.Answers {
	t.Helper()
	one := set.Named(name)
	require.NotNil(t, one, name)
	return stagetest.Check(t, one.Declaration, one.Stage, c)
}

// G-17: a process that serves stages is called as a file says.
func TestServedStages(t *testing.T) {
	t.Parallel()
	program, err := os.Executable()
	require.NoError(t, err)
	at := start(t, program, "--address", "127.0.0.1:0")
	set := load(t, "../stages-ts/served.yaml", "127.0.0.1:7796", at)
	priced := check(t, set, offers.PriceName, stagetest.Case{Content: map[string]any{"area": 50, "rooms": 2}})
	require.InDelta(t, 8.5e6, priced.After["predictedPrice"], 0)
	sorted := check(t, set, offers.PhotosName, stagetest.Case{Content: map[string]any{"photos": []any{map[string]any{"url": "b"}, map[string]any{"url": "a", "angle": "front"}}}})
	require.Equal(t, "map[photos:[map[angle:front url:a] map[url:b]]]", fmt.Sprint(sorted.After))
}

// G-17, any language: the stage in TypeScript keeps the contract, called as the file says.
func TestStageInTypeScript(t *testing.T) {
	t.Parallel()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("there is no node")
	}
	if _, err := exec.LookPath("npm"); err != nil {
		t.Skip("there is no npm to build it with")
	}
	program := "../stages-ts/dist/main.js"
	if _, err := os.Stat(program); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("make stages-ts was not run")
		}
		t.Skip("make stages-ts was not run")
	}
	at := start(t, node, program, "--address", "127.0.0.1:0")
	set := load(t, "../stages-ts/served.yaml", "127.0.0.1:7797", at)
	for _, c := range []stagetest.Case{
		{},
		{State: wrapperspb.String("1")},
		{Content: map[string]any{"catalogueVersion": 2, "category": "flat"}},
		{Content: map[string]any{"category": []any{nil, true, map[string]any{"x": -1.5}}}},
		{Content: map[string]any{"catalogueVersion": "two", "__proto__": map[string]any{"category": "room"}}},
	} {
		check(t, set, "catalogue", c)
	}
	evolved := check(t, set, "catalogue", stagetest.Case{Content: map[string]any{"category": "flat", "title": "x"}})
	require.True(t, evolved.Should.GetShouldProcess())
	require.Equal(t, map[string]any{"category": "apartment", "title": "x", "catalogueVersion": 2.0}, evolved.After)
	state := &wrapperspb.StringValue{}
	require.NoError(t, evolved.Done.GetState().UnmarshalTo(state))
	require.Equal(t, "1", state.GetValue())
	require.False(t, check(t, set, "catalogue", stagetest.Case{Content: evolved.After, State: state}).Should.GetShouldProcess())
}
