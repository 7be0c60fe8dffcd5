package e2e

import (
	"context"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
)

// imagesVariable names a directory that the pictures of docs/images are to be saved in.
const imagesVariable = "GNOMON_TEST_IMAGES"

// picture saves what the browser shows, for the documentation, where it is wanted.
func picture(browser context.Context, t *testing.T, name string) {
	t.Helper()
	dir := os.Getenv(imagesVariable)
	if dir == "" {
		return
	}
	require.NoError(t, chromedp.Do(browser, chromedp.EmulateViewport(1280, 900)))
	shot, err := chromedp.Run(browser, chromedp.CaptureScreenshot())
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, name), shot, 0o600))
}

// Issue 5; V-17: what a person sees in the Web UI of a batch that waits, is processed and
// is in review, as docs/batches.md describes it.
func TestWebUIOfBatches(t *testing.T) {
	t.Parallel()
	browser := browse(t)
	_, at := runDev(t, "--ephemeral")
	conn, err := grpc.NewClient(at.GRPC, grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, conn.Close()) })
	temporal, err := client.Dial(client.Options{HostPort: at.Temporal})
	require.NoError(t, err)
	t.Cleanup(temporal.Close)
	b := &bureau{
		installation: &installation{client: temporal},
		calls:        gnomonv1.NewBatchServiceClient(conn), other: serveOtherSide(t),
	}
	page := func(id, tab string) string {
		seen, err := temporal.DescribeWorkflowExecution(t.Context(), workflowv1.BatchWorkflowID(id), "")
		require.NoError(t, err)
		return "http://" + at.UI + "/namespaces/default/workflows/" + url.PathEscape(workflowv1.BatchWorkflowID(id)) + "/" +
			seen.GetWorkflowExecutionInfo().GetExecution().GetRunId() + "/" + tab
	}

	const moving = "move-the-shop"
	wanted := b.of(moving, 40, 2*time.Second)
	wanted.Comment, wanted.Labels = "The shop moves to its new provider", map[string]string{"tenant": "acme"}
	b.other.set(func() { b.other.answers[place(moving, 7)] = 409 })
	release := b.other.hold(place(moving, 25))
	b.submit(t, wanted)
	waiting := b.of("waiting", 3, time.Hour)
	b.submit(t, waiting)
	reviewed := b.of("reviewed", 3, 4*time.Second) // it waits until the one before it is done
	b.submit(t, reviewed)
	reads(browser, t, page("waiting", "user-metadata"), "3 changes at ", "state\tPENDING", "changes\t3")
	reads(browser, t, page("waiting", "timeline"), "due "+waiting.GetScheduledAt().AsTime().Format(time.RFC3339))

	b.other.begun(t, place(moving, 25))
	eventually(t, startWithin, "its progress is told", func() bool { return b.shows(t, moving, "25 of 40 changes are finished") })
	shown := reads(browser, t, page(moving, "user-metadata"), "40 changes at ", "The shop moves to its new provider",
		"state\tPROCESSING", "progress\t25 of 40 changes are finished", "applied\t24", "rejected\t1", "unfinished\t15", "round\t1")
	require.NotContains(t, shown, b.other.URL, "nothing of the changes")
	picture(browser, t, "batch-processing.png")
	reads(browser, t, page(moving, "pending-activities"), "ProcessBatch", `"doing": "applies"`, `"changeIndex": 25`, `"completeChanges": 24`)
	reads(browser, t, page(moving, "search-attributes"), `"GnomonKind": "batch"`, `"GnomonTenant": "acme"`)

	b.other.set(func() { b.other.hard[place("reviewed", 1)] = "GONE" })
	release()
	require.Equal(t, gnomonv1.BatchStatus_PARTIAL_FAILURE, b.ends(t, moving).GetState())
	reads(browser, t, page(moving, "user-metadata"), "state\tPARTIAL_FAILURE", "applied\t39", "rejected\t1", "unfinished\t0")
	b.comes(t, "reviewed", gnomonv1.BatchStatus_MANUAL_REVIEW)
	reads(browser, t, page("reviewed", "user-metadata"), "state\tMANUAL_REVIEW", "message\tvalidation found a problem")
	reads(browser, t, page("reviewed", "search-attributes"), `"GnomonOutcome": "manual_review"`)
}
