package main

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// design.md, Layout: the production binary stays slim. Nothing of the Temporal
// server or its Web UI may get into it.
func TestSlim(t *testing.T) {
	t.Parallel()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", ".").Output()
	require.NoError(t, err)
	packages := strings.Fields(string(out))
	require.Contains(t, packages, "gnomon/starter", "the list is of this binary")
	for _, p := range packages {
		for _, heavy := range []string{"go.temporal.io/server", "github.com/temporalio/ui-server", "gnomon/devserver", "gnomon/dev"} {
			require.False(t, p == heavy || strings.HasPrefix(p, heavy+"/"), "cmd/gnomon depends on %s", p)
		}
	}
}
