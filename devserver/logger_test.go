package devserver

import (
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/server/common/log/tag"
)

func TestAFatalErrorFailsTheStartInsteadOfTheProcess(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	log := newLogger(slog.New(slog.NewTextHandler(&out, nil)))
	err := guarded(log, func() error {
		log.With(tag.NewStringTag("service", "history")).Fatal("cannot serve", tag.Error(errors.New("no listener")))
		return nil
	})
	require.EqualError(t, err, "cannot serve: no listener")
	require.Contains(t, out.String(), "service=history")
}

func TestAPanicFailsTheStartInsteadOfTheProcess(t *testing.T) {
	t.Parallel()
	log := newLogger(slog.New(slog.DiscardHandler))
	err := guarded(log, func() error {
		log.Panic("broken shard")
		return nil
	})
	require.EqualError(t, err, "panic: broken shard")
}

func TestAStoppingServerIsQuiet(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	log := newLogger(slog.New(slog.NewTextHandler(&out, nil)))
	derived := log.With(tag.NewStringTag("service", "history"))
	derived.Info("shard acquired")
	derived.Warn("slow")
	require.NotContains(t, out.String(), "shard acquired")
	require.Contains(t, out.String(), "slow")
	log.state.stopping.Store(true)
	derived.Error("connection closed")
	require.NotContains(t, out.String(), "connection closed")
}

// The Web UI asks for more of a history at once than Temporal likes, on every page.
func TestLookingAtTheWebUIIsQuiet(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	log := newLogger(slog.New(slog.NewTextHandler(&out, nil)))
	log.Warn("GetHistory page size is larger than threshold")
	require.Empty(t, out.String())
}

// At a start the queues of shards that are still being acquired have nothing to read.
func TestAStartIsQuiet(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	log := newLogger(slog.New(slog.NewTextHandler(&out, nil)))
	log.Error("Queue reader unable to retrieve tasks", tag.Error(errors.New("shard status unknown")))
	require.Empty(t, out.String())
	log.Error("Queue reader unable to retrieve tasks", tag.Error(errors.New("disk full")))
	require.Contains(t, out.String(), "disk full")
}
