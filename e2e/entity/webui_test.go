package entity

import (
	"context"
	"net/url"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/timestamppb"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
)

// browse starts a browser, or skips the test where there is none.
func browse(t *testing.T) context.Context {
	t.Helper()
	for _, name := range []string{"chromium-headless-shell", "chromium", "google-chrome"} {
		program, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.NoSandbox, chromedp.WindowSize(1280, 1600))
		ctx, cancel := chromedp.NewExecAllocator(t.Context(), options...)
		t.Cleanup(cancel)
		ctx, cancel = chromedp.NewContext(ctx)
		t.Cleanup(cancel)
		require.NoError(t, chromedp.Do(ctx, chromedp.Navigate("about:blank")))
		return ctx
	}
	t.Skip("no browser to look at the Web UI with")
	return nil
}

// pageText is all that a person reads on the page, its frames included.
const pageText = `(() => {
	const read = d => [d.body ? d.body.innerText : ""].concat([...d.querySelectorAll("iframe")].map(f => {
		try { return read(f.contentDocument) } catch { return "" }
	})).join("\n");
	return read(document);
})()`

// What a person sees in the Web UI of an entity, as docs/entities.md says: who wants to
// visit it and which timers are armed, and nothing of its content.
func TestWebUIOfAnEntity(t *testing.T) {
	t.Parallel()
	browser := browse(t)
	release := make(chan struct{})
	defer close(release)
	slow, withdraw := &played{process: held(release, nil)}, &played{}
	due := time.Now().Add(180 * 24 * time.Hour)
	withdraw.should = func(*gnomonv1.ShouldProcessRequest) (*gnomonv1.ShouldProcessResponse, error) {
		return &gnomonv1.ShouldProcessResponse{Answer: &gnomonv1.ShouldProcessResponse_Timer{Timer: timestamppb.New(due)}}, nil
	}
	s := open(t, stage("slow-in-ui", slow, nil), stage("withdraw-in-ui", withdraw, nil))
	s.put("o", map[string]any{"secret": "hidden-content"})
	s.becomes("both are known", func() bool {
		c := s.check("o")
		return len(c.GetPending()) == 1 && len(c.GetTimers()) == 1
	})
	id := workflowv1.EntityWorkflowID(s.kind, "o")
	seen, err := s.temporal.DescribeWorkflowExecution(t.Context(), id, "")
	require.NoError(t, err)
	page := "http://" + temporal.UIAddress() + "/namespaces/default/workflows/" + url.PathEscape(id) + "/" + seen.GetWorkflowExecutionInfo().GetExecution().GetRunId() + "/"
	for tab, texts := range map[string][]string{
		"user-metadata": {s.kind + " o", "slow-in-ui", "withdraw-in-ui"},
		"history":       {"AskStages", "Process"},
	} {
		shown := reads(browser, t, page+tab, texts...)
		require.NotContains(t, shown, "hidden-content", tab)
	}
}

// reads waits until the page at an address shows all of the texts.
func reads(browser context.Context, t *testing.T, at string, texts ...string) (shown string) {
	t.Helper()
	limited, cancel := context.WithTimeout(browser, within)
	defer cancel()
	require.NoError(t, chromedp.Do(limited, chromedp.Navigate(at)))
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
	}, within, 200*time.Millisecond, "%s does not show %q", at, texts)
	return shown
}
