package logging_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/trace"
	"go.temporal.io/sdk/temporal"

	"gnomon/logging"
)

// line is what one line of JSON says.
func line(t *testing.T, write func(*slog.Logger)) map[string]any {
	t.Helper()
	var out bytes.Buffer
	log, err := logging.New(&out, slog.LevelDebug, logging.Auto)
	require.NoError(t, err)
	write(log)
	said := map[string]any{}
	require.NoError(t, json.Unmarshal(out.Bytes(), &said), "JSON where there is no terminal: %s", out.String())
	delete(said, "time")
	return said
}

// Issue 4: JSON with the ids of the action, the request and the trace.
func TestIDsOfTheContext(t *testing.T) {
	t.Parallel()
	ctx := logging.With(t.Context(), slog.String(logging.Action, "a"))
	inner := logging.With(ctx, slog.String(logging.GUID, "guid"))
	_ = logging.With(ctx, slog.String(logging.GUID, "another"))
	inner = trace.ContextWithSpanContext(inner, trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2}}))
	require.Equal(t, map[string]any{
		"level": "INFO", "msg": "Something.", "action": "a", "guid": "guid", "more": "m",
		"trace_id": "01000000000000000000000000000000", "span_id": "0200000000000000",
	}, line(t, func(log *slog.Logger) { log.InfoContext(inner, "Something.", "more", "m") }))
	require.Equal(t, map[string]any{"level": "WARN", "msg": "Something.", "action": "b", "part": "p"},
		line(t, func(log *slog.Logger) { log.With("part", "p").WarnContext(ctx, "Something.", "action", "b") }),
		"what the line itself says wins")
}

// F20: what a receiver answered is not in the log of Temporal's SDK either.
func TestErrorsOfActionsAreDiscreet(t *testing.T) {
	t.Parallel()
	failed := fmt.Errorf("activity: %w", temporal.NewApplicationError("c4n4ry", "Failed"))
	said := line(t, func(log *slog.Logger) { log.With("with", failed).Error("Activity error.", "Error", failed) })
	require.Equal(t, "an error of type Failed", said["Error"])
	require.Equal(t, "an error of type Failed", said["with"])
	require.Equal(t, "down", line(t, func(log *slog.Logger) { log.Error("x", "Error", errors.New("down")) })["Error"])
}

func TestFormats(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	log, err := logging.New(&out, slog.LevelWarn, logging.Text)
	require.NoError(t, err)
	log.Info("No.")
	log.WithGroup("g").Warn("Yes.", "a", 1)
	require.Contains(t, out.String(), "level=WARN msg=Yes. g.a=1\n")
	require.NotContains(t, out.String(), "No.")
	_, err = logging.New(&out, slog.LevelWarn, "xml")
	require.EqualError(t, err, `--log-format is "xml" and must be auto, json or text`)
}
