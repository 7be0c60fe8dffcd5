package signals_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/require"

	"gnomon/deploy/signals"
)

// directory has the files.
const directory = ".."

// promtool runs Prometheus' own tool on the files, in the directory that it mounts, or
// skips the test where there is none, but not in CI.
func promtool(t *testing.T, args ...string) string {
	t.Helper()
	program, err := exec.LookPath("promtool")
	if err != nil && os.Getenv("CI") == "" {
		t.Skip("no promtool on PATH: the rules of Prometheus are not tried")
	}
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Dir = filepath.Join(directory, "prometheus")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return string(out)
}

// Issue 4, 7: the rules are rules, and each fires when it should and not otherwise.
func TestAlertRules(t *testing.T) {
	t.Parallel()
	require.Contains(t, promtool(t, "check", "rules", "alerts.yml"), "SUCCESS")
	require.Contains(t, promtool(t, "check", "config", "prometheus.yml"), "SUCCESS")
	tests, err := filepath.Glob(filepath.Join(directory, "prometheus", "tests", "*.yml"))
	require.NoError(t, err)
	require.NotEmpty(t, tests)
	args := []string{"test", "rules"}
	for _, test := range tests {
		args = append(args, filepath.Join("tests", filepath.Base(test)))
	}
	require.Equal(t, len(tests), strings.Count(promtool(t, args...), "SUCCESS"))
}

// Each alert has a test in which it fires and one in which it does not.
func TestEachAlertIsTested(t *testing.T) {
	t.Parallel()
	tests, err := filepath.Glob(filepath.Join(directory, "prometheus", "tests", "*.yml"))
	require.NoError(t, err)
	fires, silent := map[string]bool{}, map[string]bool{}
	for _, name := range tests {
		body, err := os.ReadFile(name)
		require.NoError(t, err)
		var file struct {
			Tests []struct {
				Alerts []struct {
					Name     string `yaml:"alertname"`
					Expected []any  `yaml:"exp_alerts"`
				} `yaml:"alert_rule_test"`
			} `yaml:"tests"`
		}
		require.NoError(t, yaml.Unmarshal(body, &file))
		for _, test := range file.Tests {
			for _, alert := range test.Alerts {
				fires[alert.Name] = fires[alert.Name] || len(alert.Expected) > 0
				silent[alert.Name] = silent[alert.Name] || len(alert.Expected) == 0
			}
		}
	}
	alerts, err := signals.Alerts(directory)
	require.NoError(t, err)
	require.NotEmpty(t, alerts)
	for _, a := range alerts {
		require.True(t, fires[a.Name], "%s has no test in which it fires", a.Name)
		require.True(t, silent[a.Name], "%s has no test in which it does not", a.Name)
	}
}

var heading = regexp.MustCompile(`(?m)^#+ (.+)$`)

// anchors are the headings of a page, as GitHub links them.
func anchors(t *testing.T, page string) map[string]bool {
	t.Helper()
	body, err := os.ReadFile(filepath.Join(directory, "..", filepath.FromSlash(page)))
	require.NoError(t, err)
	all := map[string]bool{}
	for _, match := range heading.FindAllStringSubmatch(string(body), -1) {
		all[strings.ReplaceAll(strings.ToLower(match[1]), " ", "-")] = true
	}
	return all
}

// Issue 4, 7: a person who is woken finds what to do.
func TestEachAlertHasItsRunbook(t *testing.T) {
	t.Parallel()
	alerts, err := signals.Alerts(directory)
	require.NoError(t, err)
	known := anchors(t, "docs/operations.md")
	for _, a := range alerts {
		page, anchor, _ := strings.Cut(a.Annotations["runbook"], "#")
		require.Equal(t, "docs/operations.md", page, a.Name)
		require.Equal(t, strings.ToLower(a.Name), anchor)
		require.True(t, known[anchor], "%s has no section in %s", a.Name, page)
		require.Contains(t, []string{"page", "ticket"}, a.Labels["severity"], a.Name)
		require.NotEmpty(t, a.Annotations["summary"], a.Name)
		require.NotEmpty(t, a.Annotations["description"], a.Name)
		delete(known, anchor)
	}
	for anchor := range known {
		require.False(t, strings.HasPrefix(anchor, "gnomon") && strings.Count(anchor, "-") == 0, "no alert is called %s", anchor)
	}
}
