package tracing

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"

	"go.opentelemetry.io/contrib/exporters/autoexport"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
)

// asking are the variables that ask for traces. OpenTelemetry's own default is an
// exporter to localhost; gnomon's is none.
var asking = []string{"OTEL_TRACES_EXPORTER", "OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"}

// asked says whether the environment asks for traces.
func asked(lookup func(string) string) bool {
	if strings.EqualFold(lookup("OTEL_SDK_DISABLED"), "true") || lookup("OTEL_TRACES_EXPORTER") == "none" {
		return false
	}
	for _, name := range asking {
		if lookup(name) != "" {
			return true
		}
	}
	return false
}

// Continue has a command go on with the trace that the variables TRACEPARENT and
// TRACESTATE name, as a script or a CI job sets them.
func Continue(ctx context.Context) context.Context {
	return propagator.Extract(ctx, propagation.MapCarrier{
		"traceparent": os.Getenv("TRACEPARENT"), "tracestate": os.Getenv("TRACESTATE"),
	})
}

// FromEnvironment is the Tracing that OpenTelemetry's variables ask for, and nil if they
// ask for none. The service is named by OTEL_SERVICE_NAME, else as given. What goes
// wrong later, such as a collector that cannot be reached, is logged as a warning for all
// of the process.
func FromEnvironment(ctx context.Context, service, version string, log *slog.Logger) (*Tracing, error) {
	if !asked(os.Getenv) {
		return nil, nil //nolint:nilnil // nil is a Tracing that does nothing
	}
	exporter, err := autoexport.NewSpanExporter(ctx)
	if err != nil {
		return nil, fmt.Errorf("the OTEL_* settings of traces cannot be used: %w", err)
	}
	own := []attribute.KeyValue{semconv.ServiceName(service)}
	if version != "" {
		own = append(own, semconv.ServiceVersion(version))
	}
	about, err := resource.New(ctx,
		resource.WithTelemetrySDK(), resource.WithHost(), resource.WithAttributes(own...),
		resource.WithFromEnv(), // last, so that it wins
	)
	if err != nil {
		return nil, fmt.Errorf("the OTEL_* settings of the service cannot be used: %w", err)
	}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) {
		log.Warn("Traces could not be exported.", "error", err)
	}))
	return New(sdktrace.WithBatcher(exporter), sdktrace.WithResource(about)), nil
}
