package dev

import (
	"context"
	"fmt"
	"log/slog"

	"go.temporal.io/sdk/client"

	"gnomon/metrics"
	"gnomon/store"
)

// observe serves the metrics and probes of all that runs here at one port.
func observe(ctx context.Context, c client.Client, rows store.Actions, registry *metrics.Registry, o options, log *slog.Logger, parts *closers) (*metrics.Server, error) {
	shown, err := metrics.Listen(ctx, address(o.metricsPort), registry, log, metrics.Checks(c, rows)...)
	if err != nil {
		return nil, fmt.Errorf("--metrics-port: %w", err)
	}
	parts.add(func() {
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
		defer cancel()
		logged(log, "metrics", shown.Close(end))
	})
	return shown, nil
}
