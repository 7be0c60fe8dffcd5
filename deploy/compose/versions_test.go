package compose

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// module is what go list says of a module that gnomon is built with.
func module(t *testing.T, path, field string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{."+field+"}}", path).Output()
	require.NoError(t, err)
	return strings.TrimSpace(string(out))
}

// The Temporal of the file is the one that gnomon is tested with.
func TestVersionsAreThoseOfTheTests(t *testing.T) {
	t.Parallel()
	server := strings.TrimPrefix(module(t, "go.temporal.io/server", "Version"), "v")
	ui := strings.TrimPrefix(module(t, "github.com/temporalio/ui-server/v2", "Version"), "v")
	p := project(t)
	for name, image := range map[string]string{
		"temporal":           "temporalio/server:" + server,
		"temporal-schema":    "temporalio/admin-tools:" + server,
		"temporal-namespace": "temporalio/admin-tools:" + server,
		"temporal-ui":        "temporalio/ui:" + ui,
	} {
		require.Equal(t, image, p.Services[name].Image, name)
	}
	require.Contains(t, text(t, "Dockerfile"), "FROM golang:"+module(t, "gnomon", "GoVersion")+"-")
}

// Temporal's Web UI reads each variable that it is given.
func TestWebUIReadsItsVariables(t *testing.T) {
	t.Parallel()
	body, err := os.ReadFile(filepath.Join(module(t, "github.com/temporalio/ui-server/v2", "Dir"), "config", "docker.yaml"))
	require.NoError(t, err)
	variables := project(t).Services["temporal-ui"].Environment
	require.NotEmpty(t, variables)
	for name := range variables {
		require.Regexp(t, `env "`+regexp.QuoteMeta(name)+`"`, string(body))
	}
}
