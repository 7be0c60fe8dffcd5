package metrics

import (
	"log/slog"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/attribute"
	otelprom "go.opentelemetry.io/otel/exporters/prometheus"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/opentelemetry"
)

// sdkBuckets are in seconds: from calls of a server nearby to long polls and activities.
var sdkBuckets = []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 60, 300}

// temporalHandler has the metrics of Temporal's SDK, temporal_*, registered beside ours.
func temporalHandler(into prometheus.Registerer) (client.MetricsHandler, error) {
	exporter, err := otelprom.New(otelprom.WithRegisterer(into), otelprom.WithoutScopeInfo(), otelprom.WithoutTargetInfo())
	if err != nil {
		return nil, err
	}
	provider := sdkmetric.NewMeterProvider(sdkmetric.WithReader(exporter), sdkmetric.WithView(view))
	return opentelemetry.NewMetricsHandler(opentelemetry.MetricsHandlerOptions{
		Meter:                provider.Meter("gnomon"),
		UseMonotonicCounters: true,
		OnError:              func(err error) { slog.Default().Warn("A metric of Temporal's client is not kept.", "error", err) },
	}), nil
}

// view has few series kept: the SDK counts and times the attempts of a call beside the
// call, and names itself in each.
func view(i sdkmetric.Instrument) (sdkmetric.Stream, bool) {
	kept := sdkmetric.Stream{
		Name: i.Name, Description: i.Description, Unit: i.Unit,
		AttributeFilter: func(a attribute.KeyValue) bool { return a.Key != "client_name" },
	}
	switch {
	case strings.HasSuffix(i.Name, "_attempt"):
		kept.Aggregation = sdkmetric.AggregationDrop{}
	case i.Kind == sdkmetric.InstrumentKindHistogram:
		kept.Aggregation = sdkmetric.AggregationExplicitBucketHistogram{Boundaries: sdkBuckets}
	}
	return kept, true
}
