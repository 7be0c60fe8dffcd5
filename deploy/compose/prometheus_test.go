package compose

import (
	"bufio"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gnomon/deploy/signals"
)

// listening is what Prometheus logs once it serves.
var listening = regexp.MustCompile(`msg="Listening on".* address=(\S+)`)

// Prometheus takes the flags of the file and the configuration that it mounts, has all
// rules, and asks all targets. This is Debian's, not the image's.
func TestPrometheusRuns(t *testing.T) {
	t.Parallel()
	executable, err := exec.LookPath("prometheus")
	if err != nil && os.Getenv("CI") == "" {
		t.Skip("no prometheus on PATH: the file's command is not tried")
	}
	require.NoError(t, err)
	here := strings.NewReplacer("=/etc/prometheus/", "="+filepath.Join(root, "deploy", "prometheus")+"/", "=/prometheus", "="+t.TempDir())
	var flags []string
	for _, flag := range project(t).Services["prometheus"].Command {
		flags = append(flags, here.Replace(flag))
	}
	cmd := exec.CommandContext(t.Context(), executable, append(flags, "--web.listen-address=127.0.0.1:0")...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = time.Minute
	log, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	lines := bufio.NewScanner(log)
	address, said := "", ""
	for address == "" && lines.Scan() {
		said += lines.Text() + "\n"
		if match := listening.FindStringSubmatch(lines.Text()); match != nil {
			address = match[1]
		}
	}
	require.NotEmpty(t, address, said)
	ended := make(chan struct{})
	go func() { // until it ends, or it would wait for its reader
		defer close(ended)
		for lines.Scan() {
		}
		_ = cmd.Wait()
	}()
	t.Cleanup(func() { <-ended })

	var rules struct {
		Data struct {
			Groups []struct{ Rules []struct{ Name string } }
		}
	}
	alerts, err := signals.Alerts(filepath.Join(root, "deploy"))
	require.NoError(t, err)
	require.Eventually(t, func() bool { // it listens before it has read its files
		asked, loaded := ask(t, "http://"+address+"/api/v1/rules", &rules), 0
		for _, group := range rules.Data.Groups {
			loaded += len(group.Rules)
		}
		return asked == nil && loaded == len(alerts)
	}, time.Minute, 20*time.Millisecond)

	var targets struct {
		Data struct {
			ActiveTargets []struct {
				Labels struct{ Job, Instance string }
			}
		}
	}
	jobs, err := signals.Jobs(filepath.Join(root, "deploy"))
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		found, want := 0, 0
		for _, list := range jobs {
			want += len(list)
		}
		asked := ask(t, "http://"+address+"/api/v1/targets", &targets)
		for _, target := range targets.Data.ActiveTargets {
			for _, expected := range jobs[target.Labels.Job] {
				if expected == target.Labels.Instance {
					found++
				}
			}
		}
		return asked == nil && found == want && len(targets.Data.ActiveTargets) == want
	}, time.Minute, 20*time.Millisecond)
}

// ask reads a page of JSON.
func ask(t *testing.T, url string, into any) error {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	reply, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer reply.Body.Close()
	return json.NewDecoder(reply.Body).Decode(into)
}
