package devserver_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"gnomon/devserver"
)

// childEnv makes this test binary a server on the directory it names.
const childEnv = "GNOMON_TEST_DEVSERVER_DATA"

func TestRestartOnTheSameFile(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "made on the way, 100%?#")
	first := start(t, devserver.Config{DataDir: dir, UIPort: devserver.NoUI})
	require.Empty(t, first.UIAddress())
	c := dial(t, first, "default")
	w := work(t, c)
	greet(t, c, "kept")
	w.Stop()
	c.Close()
	began := time.Now()
	first.Stop()
	require.Less(t, time.Since(began), 5*time.Second, "Stop takes long")
	first.Stop()

	second := start(t, devserver.Config{
		DataDir: dir,
		UIPort:  devserver.NoUI,
		SearchAttributes: map[string]enumspb.IndexedValueType{
			"Tenant": enumspb.INDEXED_VALUE_TYPE_KEYWORD,
		},
		Namespaces: []string{"default", "added"},
	})
	require.NotEqual(t, first.Address(), second.Address())
	c = dial(t, second, "default")
	var result string
	require.NoError(t, c.GetWorkflow(t.Context(), "kept", "").Get(t.Context(), &result))
	require.Equal(t, "hello gnome", result)

	// An attribute that came with the restart is as good as one from the beginning.
	work(t, c)
	greet(t, c, "found", tenant.ValueSet("acme"))
	requireFound(t, c, "Tenant = 'acme'", "found")
	work(t, dial(t, second, "added"))
	greet(t, dial(t, second, "added"), "first")
}

func TestKillLosesNothingAcknowledged(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	child, address := startChild(t, dir)
	c, err := client.DialContext(t.Context(), client.Options{HostPort: address, Logger: quiet})
	require.NoError(t, err)
	const acknowledged = 20
	for i := range acknowledged {
		_, err := c.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{
			ID:        workflowID(i),
			TaskQueue: queue + t.Name(),
		}, "Greet", "gnome")
		require.NoError(t, err)
	}
	require.NoError(t, child.Process.Kill())
	require.Error(t, child.Wait(), "the server was not killed")
	c.Close()

	c = dial(t, start(t, devserver.Config{DataDir: dir, UIPort: devserver.NoUI}), "default")
	work(t, c)
	for i := range acknowledged {
		var result string
		require.NoError(t, c.GetWorkflow(t.Context(), workflowID(i), "").Get(t.Context(), &result))
		require.Equal(t, "hello gnome", result)
	}
}

func TestOneServerOwnsADirectory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	startChild(t, dir)
	_, err := devserver.Start(t.Context(), devserver.Config{DataDir: dir})
	require.ErrorContains(t, err, "is in use by another server")

	start(t, devserver.Config{DataDir: filepath.Join(dir, "own"), UIPort: devserver.NoUI})
	_, err = devserver.Start(t.Context(), devserver.Config{DataDir: filepath.Join(dir, "own")})
	require.ErrorContains(t, err, "is in use by another server")
}

func TestADeletedDirectoryStartsAfresh(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	first := start(t, devserver.Config{DataDir: dir, UIPort: devserver.NoUI})
	c := dial(t, first, "default")
	work(t, c)
	greet(t, c, "gone")
	first.Stop()
	require.NoError(t, os.RemoveAll(dir))

	c = dial(t, start(t, devserver.Config{DataDir: dir, UIPort: devserver.NoUI}), "default")
	_, err := c.DescribeWorkflowExecution(t.Context(), "gone", "")
	require.ErrorContains(t, err, "not found")
}

func TestAnInterruptedCreationIsThrownAway(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "temporal.db.new"), []byte("half a database"), 0o600))
	start(t, devserver.Config{DataDir: dir, UIPort: devserver.NoUI})
	require.NoFileExists(t, filepath.Join(dir, "temporal.db.new"))
}

func TestASearchAttributeKeepsItsType(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cfg := devserver.Config{
		DataDir: dir, UIPort: devserver.NoUI,
		SearchAttributes: map[string]enumspb.IndexedValueType{"Size": enumspb.INDEXED_VALUE_TYPE_INT},
	}
	start(t, cfg).Stop()
	cfg.SearchAttributes = map[string]enumspb.IndexedValueType{"Size": enumspb.INDEXED_VALUE_TYPE_KEYWORD}
	_, err := devserver.Start(t.Context(), cfg)
	require.EqualError(t, err, "devserver: namespace default: "+
		"search attribute Size is of type Int in this database, Keyword is wanted")

	// The refusal let go of the directory.
	cfg.SearchAttributes["Size"] = enumspb.INDEXED_VALUE_TYPE_INT
	c := dial(t, start(t, cfg), "default")
	work(t, c)
	greet(t, c, "sized", temporal.NewSearchAttributeKeyInt64("Size").ValueSet(7))
	requireFound(t, c, "Size > 6", "sized")
}

func workflowID(i int) string { return "kept-" + string(rune('a'+i)) }

// start returns a server that ends with the test.
func start(t *testing.T, cfg devserver.Config) *devserver.Server {
	t.Helper()
	srv, err := devserver.Start(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(srv.Stop)
	return srv
}

// startChild runs a server in a process of its own and returns its address.
func startChild(t *testing.T, dir string) (*exec.Cmd, string) {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	child := exec.CommandContext(t.Context(), self)
	child.Env = append(os.Environ(), childEnv+"="+dir)
	child.Stderr = os.Stderr
	stdout, err := child.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, child.Start())
	t.Cleanup(func() { _ = child.Process.Kill() })
	var address string
	require.NoError(t, json.NewDecoder(stdout).Decode(&address))
	return child, address
}

// runChild serves until it is killed.
func runChild(dir string) int {
	srv, err := devserver.Start(context.Background(), devserver.Config{DataDir: dir, UIPort: devserver.NoUI})
	if err != nil {
		return 1
	}
	if err := json.NewEncoder(os.Stdout).Encode(srv.Address()); err != nil {
		return 1
	}
	select {}
}
