package e2e

import (
	"context"
	"net/url"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	workflowv1 "gnomon/api/gnomon/workflow/v1"
)

// browsers are the programs that can show the Web UI, the smallest first.
var browsers = []string{"chromium-headless-shell", "chromium", "google-chrome"}

// browse starts a browser, or skips the test where there is none.
func browse(t *testing.T) context.Context {
	t.Helper()
	program := ""
	for _, name := range browsers {
		if found, err := exec.LookPath(name); err == nil {
			program = found
			break
		}
	}
	if program == "" {
		t.Skipf("no browser to look at the Web UI with: none of %s is on PATH", strings.Join(browsers, ", "))
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.NoSandbox, chromedp.WindowSize(1280, 1600))
	ctx, cancel := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	require.NoError(t, chromedp.Do(ctx, chromedp.Navigate("about:blank")))
	return ctx
}

// pageText is all that a person reads on the page, its frames included: the Web UI
// shows markdown in frames of their own.
const pageText = `(() => {
	const read = d => [d.body ? d.body.innerText : ""].concat([...d.querySelectorAll("iframe")].map(f => {
		try { return read(f.contentDocument) } catch { return "" }
	})).join("\n");
	return read(document);
})()`

// reads waits until the page at an address shows all of the texts.
func reads(browser context.Context, t *testing.T, at string, texts ...string) string {
	t.Helper()
	limited, cancel := context.WithTimeout(browser, startWithin)
	defer cancel()
	require.NoError(t, chromedp.Do(limited, chromedp.Navigate(at)))
	shown := ""
	require.Eventually(t, func() bool {
		text, err := chromedp.Run(limited, chromedp.Evaluate[string](pageText))
		if err != nil {
			return false
		}
		shown = text
		for _, want := range texts {
			if !strings.Contains(shown, want) {
				return false
			}
		}
		return true
	}, startWithin, 200*time.Millisecond, "%s does not show %q", at, texts)
	return shown
}

// P-04; issue 2, 'It is done when': what a person sees in the Web UI of a waiting, a
// retrying, a paused and a finished action, as docs/operations.md describes it.
func TestWebUI(t *testing.T) {
	t.Parallel()
	browser := browse(t)
	_, at := runDev(t, "--ephemeral")
	said := func(args ...string) {
		out, people, code := gnomon(t, append([]string{"--address", at.GRPC, "action"}, args...)...)
		require.Zero(t, code, "gnomon %v: %s%s", args, out, people)
	}
	inbox := "http://" + at.Receiver
	said("create", "waiting", "--at", "2099-11-21T10:00:00Z", "--url", inbox+"/invoices?token=hidden", "--label", "tenant=acme",
		"--body", "hidden", "--max-retries", "5")
	said("create", "retrying", "--url", inbox+"/status/503", "--max-retries", "5", "--min-delay", "60s", "--max-delay", "10m")
	said("create", "paused", "--every", "1h", "--in", "1h", "--url", inbox+"/paused")
	said("pause", "paused")
	said("create", "failed", "--url", inbox+"/status/500")
	said("create", "fine", "--url", inbox+"/fine")

	c, err := client.Dial(client.Options{HostPort: at.Temporal})
	require.NoError(t, err)
	t.Cleanup(c.Close)
	workflows := "http://" + at.UI + "/namespaces/default/workflows"
	page := func(id, tab string) string {
		seen, err := c.DescribeWorkflowExecution(t.Context(), workflowv1.WorkflowID(id), "")
		require.NoError(t, err)
		return workflows + "/" + url.PathEscape(workflowv1.WorkflowID(id)) + "/" + seen.GetWorkflowExecutionInfo().GetExecution().GetRunId() + "/" + tab
	}

	shown := reads(browser, t, page("waiting", "user-metadata"),
		"POST "+inbox+"/invoices", "once, 2099-11-21 10:00:00 UTC. Retries: 5, 1s to 1m0s apart.",
		"State\tSCHEDULED", "Next run\t2099-11-21 10:00:00 UTC", "Succeeded / failed / interrupted\t0 / 0 / 0")
	require.NotContains(t, shown, "hidden", "no query and no body")
	require.NotContains(t, shown, "|---|", "the table is rendered")
	reads(browser, t, page("waiting", "timeline"), "due 2099-11-21T10:00:00Z")
	reads(browser, t, page("waiting", "search-attributes"), `"GnomonKind": "http_request"`, `"GnomonTenant": "acme"`)

	reads(browser, t, page("retrying", "pending-activities"), "Perform", "4 remaining", "Next Retry",
		"answered with status 503", `"failedAttemptsCounter": "1"`)
	reads(browser, t, page("retrying", "user-metadata"), "State\tRUNNING", "see the pending activity")
	reads(browser, t, page("retrying", "timeline"), "Perform", "attempt of ")

	reads(browser, t, page("paused", "user-metadata"), "State\tPAUSED", "then every 1h0m0s")
	reads(browser, t, page("failed", "user-metadata"), "State\tFAILED", "answered with status 500")

	eventually(t, startWithin, "the kind can be searched for", func() bool {
		count, err := c.CountWorkflow(t.Context(), &workflowservice.CountWorkflowExecutionsRequest{Query: `GnomonKind = "http_request"`})
		return err == nil && count.GetCount() == 5
	})
	const query = `GnomonOutcome = "failed"`
	eventually(t, startWithin, "the outcome can be searched for", func() bool {
		count, err := c.CountWorkflow(t.Context(), &workflowservice.CountWorkflowExecutionsRequest{Query: query})
		return err == nil && count.GetCount() == 1
	})
	shown = reads(browser, t, workflows+"?query="+url.QueryEscape(query), "action/failed")
	require.NotContains(t, shown, "action/fine")
}
