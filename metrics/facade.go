package metrics

import (
	grpcprom "github.com/grpc-ecosystem/go-grpc-middleware/providers/prometheus"
	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// callBuckets are in seconds: from a read of the store to a command that waited for a
// worker, and further.
var callBuckets = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30}

// Facade are the instruments of the API. A nil Facade measures nothing.
type Facade struct {
	calls    *grpcprom.ServerMetrics
	accepted *prometheus.CounterVec
	left     *prometheus.CounterVec
	untold   prometheus.Counter
	overdue  *overdue
}

// NewFacade registers the instruments of the API; once for a registry.
func NewFacade(r *Registry) *Facade {
	f := &Facade{
		calls: grpcprom.NewServerMetrics(grpcprom.WithServerHandlingTimeHistogram(grpcprom.WithHistogramBuckets(callBuckets))),
		accepted: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: namespace, Name: "accepted_total",
			Help: "Creates and commands that were answered without an error, by method and kind of action; each of a batch counts.",
		}, []string{"method", "kind"}),
		left: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: namespace, Name: "commands_left_total",
			Help: "Accepted commands that no worker applied in time: they were left with Temporal and answered with Applied=FALSE.",
		}, []string{"method"}),
		untold: prometheus.NewCounter(prometheus.CounterOpts{
			Namespace: namespace, Name: "entities_untold_total",
			Help: "Changes of entities that were stored and of which Temporal could not be told: a worker tells it later.",
		}),
		overdue: newOverdue(),
	}
	f.calls.InitializeMetrics(services{})
	for _, method := range accepting {
		for _, kind := range kinds() {
			f.accepted.WithLabelValues(method, kind)
		}
		f.left.WithLabelValues(method)
	}
	r.registry.MustRegister(f.calls, f.accepted, f.left, f.untold, f.overdue)
	return f
}

// Untold notes a change of an entity that is stored and of which Temporal could not be told.
func (f *Facade) Untold() {
	if f != nil {
		f.untold.Inc()
	}
}

// ServerOptions measure every call of a gRPC server. They are to come before all other
// interceptors, so that they see what the caller gets.
func (f *Facade) ServerOptions() []grpc.ServerOption {
	if f == nil {
		return nil
	}
	return []grpc.ServerOption{
		grpc.ChainUnaryInterceptor(f.calls.UnaryServerInterceptor(), f.countAccepted),
		grpc.ChainStreamInterceptor(f.calls.StreamServerInterceptor()),
	}
}

// services are those whose calls exist in the metrics before the first.
type services struct{}

// GetServiceInfo implements reflection.ServiceInfoProvider.
func (services) GetServiceInfo() map[string]grpc.ServiceInfo {
	desc, info := gnomonv1.ActionService_ServiceDesc, grpc.ServiceInfo{}
	for _, m := range desc.Methods {
		info.Methods = append(info.Methods, grpc.MethodInfo{Name: m.MethodName})
	}
	for _, s := range desc.Streams {
		info.Methods = append(info.Methods, grpc.MethodInfo{Name: s.StreamName, IsClientStream: s.ClientStreams, IsServerStream: s.ServerStreams})
	}
	return map[string]grpc.ServiceInfo{desc.ServiceName: info}
}
