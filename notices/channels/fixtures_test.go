package channels_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"google.golang.org/protobuf/types/known/timestamppb"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/notices"
	"gnomon/notices/channels"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// load makes the channels of a configuration.
func load(t *testing.T, text string) (channels.Channels, error) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "notifications.yaml")
	require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
	return channels.Load(name, slog.New(slog.DiscardHandler))
}

// one makes the only channel of a configuration.
func one(t *testing.T, text string) notices.Channel {
	t.Helper()
	c, err := load(t, text)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	all := c.For(notices.ScheduledChangeFailed)
	require.Len(t, all, 1)
	return all[0]
}

// review is the notice of a batch that waits for a person. Whatever is secret in it has
// that word.
func review(problems int) notices.Notice {
	b := &gnomonv1.Batch{
		Id: "release:7", Uid: "uid-1", Comment: "secret", Labels: map[string]string{"secret": "secret"},
		ScheduledAt: timestamppb.New(time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)),
		Status: &gnomonv1.BatchStatus{
			State: gnomonv1.BatchStatus_MANUAL_REVIEW, Message: "secret", Round: 2,
			PendingChanges: 7, CompleteChanges: 3, FailedChanges: 1,
		},
	}
	for i := range problems {
		p := &gnomonv1.Problem{Severity: gnomonv1.Problem_HARD, Code: "RECORD_EXISTS", Message: "secret", Field: "dns_record.name"}
		if i > 0 {
			index := int32(i - 1)
			p.ChangeIndex = &index
		}
		b.Status.Problems = append(b.Status.Problems, p)
	}
	return notices.Notice{Key: "release:7/uid-1/2/ScheduledChangeFailed", Event: notices.ScheduledChangeFailed, Batch: b}
}
