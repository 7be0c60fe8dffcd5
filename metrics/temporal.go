package metrics

import (
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"
	otelprom "go.opentelemetry.io/otel/exporters/prometheus"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/opentelemetry"
)

// sdkBuckets are in seconds: from calls of a server nearby to long polls and activities.
var sdkBuckets = []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300, 1800}

// temporalHandler has the metrics of Temporal's SDK, temporal_*, registered beside ours.
func temporalHandler(into prometheus.Registerer) (client.MetricsHandler, error) {
	exporter, err := otelprom.New(otelprom.WithRegisterer(into), otelprom.WithoutScopeInfo(), otelprom.WithoutTargetInfo())
	if err != nil {
		return nil, err
	}
	provider := sdkmetric.NewMeterProvider(sdkmetric.WithReader(exporter), sdkmetric.WithView(sdkmetric.NewView(
		sdkmetric.Instrument{Kind: sdkmetric.InstrumentKindHistogram},
		sdkmetric.Stream{Aggregation: sdkmetric.AggregationExplicitBucketHistogram{Boundaries: sdkBuckets}},
	)))
	return opentelemetry.NewMetricsHandler(opentelemetry.MetricsHandlerOptions{
		Meter:                provider.Meter("gnomon"),
		UseMonotonicCounters: true,
		OnError:              func(err error) { slog.Default().Warn("A metric of Temporal's client is not kept.", "error", err) },
	}), nil
}
