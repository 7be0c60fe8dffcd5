package compose

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/types"
	"github.com/stretchr/testify/require"
)

// root is the repository's.
const root = "../.."

// passwords are given to the file as a person gives them in .env. No literal in the file
// is equal to one.
var passwords = types.Mapping{
	"POSTGRES_PASSWORD":      "given-to-postgresql",
	"GRAFANA_ADMIN_PASSWORD": "given-to-grafana",
}

// text is a file of the repository.
func text(t *testing.T, name string) string {
	t.Helper()
	body, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
	require.NoError(t, err)
	return string(body)
}

// load is what docker compose would make of the file with another content.
func load(ctx context.Context, content string, environment types.Mapping) (*types.Project, error) {
	return parse(ctx, root, []byte(content), environment)
}

// project is docker-compose.yml as it is.
func project(t *testing.T) *types.Project {
	t.Helper()
	p, err := Load(t.Context(), root, passwords)
	require.NoError(t, err)
	return p
}

// required matches the variables without which Compose refuses the file.
var required = regexp.MustCompile(`\$\{(\w+):\?`)

// Without a password nothing begins, and .env.example names what there is to fill in, and
// holds none of it.
func TestPasswordsAreRequired(t *testing.T) {
	t.Parallel()
	content := text(t, "docker-compose.yml")
	asked := map[string]bool{}
	for _, match := range required.FindAllStringSubmatch(content, -1) {
		asked[match[1]] = true
	}
	require.NotEmpty(t, asked)
	for name := range asked {
		for _, value := range []string{"", "-"} {
			environment := passwords.Clone()
			if environment[name] = value; value == "-" {
				delete(environment, name)
			}
			_, err := load(t.Context(), content, environment)
			require.ErrorContains(t, err, name)
			require.ErrorContains(t, err, ".env.example")
		}
	}
	for line := range strings.Lines(text(t, ".env.example")) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, value, _ := strings.Cut(line, "=")
		require.Empty(t, value, "%s has a value in .env.example", name)
		require.True(t, asked[name], "nothing asks for %s", name)
		delete(asked, name)
	}
	require.Empty(t, asked, "what .env.example does not name")
	require.Contains(t, strings.Split(text(t, ".gitignore"), "\n"), "/.env")
	require.Contains(t, strings.Split(text(t, ".dockerignore"), "\n"), ".env")
}
