package starter

import (
	"cmp"
	"context"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/reflect/protoreflect"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/api/openapi"
)

// Services are what a server serves. One that is nil is not served.
type Services struct {
	Actions   gnomonv1.ActionServiceServer
	Batches   gnomonv1.BatchServiceServer
	Clusters  gnomonv1.ClusterServiceServer
	Playbooks gnomonv1.PlaybookServiceServer
	Entities  gnomonv1.EntityServiceServer
}

// NewServices are all services over one configuration, and whether what they need
// answers.
func NewServices(c Config) (all Services, ready func(context.Context) error, err error) {
	actions, errActions := NewActions(c)
	batches, errBatches := NewBatches(c)
	clusters, errClusters := NewClusters(c)
	playbooks, errPlaybooks := NewPlaybooks(c)
	entities, errEntities := NewEntities(c)
	if err := cmp.Or(errActions, errBatches, errClusters, errPlaybooks, errEntities); err != nil {
		return Services{}, nil, err
	}
	return Services{Actions: actions, Batches: batches, Clusters: clusters, Playbooks: playbooks, Entities: entities}, actions.Ready, nil
}

// service is one of Services with all that serving it takes.
type service struct {
	// register makes gRPC serve it.
	register func(*grpc.Server)
	// rest makes REST call it through a connection.
	rest func(context.Context, *runtime.ServeMux, *grpc.ClientConn) error
	// descriptor has its name and the rules of its REST methods.
	descriptor protoreflect.ServiceDescriptor
	// document names its OpenAPI document.
	document string
}

// all are the services that are served.
func (s Services) all() []service {
	var served []service
	if s.Actions != nil {
		served = append(served, service{
			register:   func(g *grpc.Server) { gnomonv1.RegisterActionServiceServer(g, s.Actions) },
			rest:       gnomonv1.RegisterActionServiceHandler,
			descriptor: gnomonv1.File_gnomon_v1_action_service_proto.Services().ByName("ActionService"),
			document:   openapi.Actions,
		})
	}
	if s.Batches != nil {
		served = append(served, service{
			register:   func(g *grpc.Server) { gnomonv1.RegisterBatchServiceServer(g, s.Batches) },
			rest:       gnomonv1.RegisterBatchServiceHandler,
			descriptor: gnomonv1.File_gnomon_v1_batch_service_proto.Services().ByName("BatchService"),
			document:   openapi.Batches,
		})
	}
	if s.Clusters != nil {
		served = append(served, service{
			register:   func(g *grpc.Server) { gnomonv1.RegisterClusterServiceServer(g, s.Clusters) },
			rest:       gnomonv1.RegisterClusterServiceHandler,
			descriptor: gnomonv1.File_gnomon_v1_cluster_service_proto.Services().ByName("ClusterService"),
			document:   openapi.Clusters,
		})
	}
	if s.Playbooks != nil {
		served = append(served, service{
			register:   func(g *grpc.Server) { gnomonv1.RegisterPlaybookServiceServer(g, s.Playbooks) },
			rest:       gnomonv1.RegisterPlaybookServiceHandler,
			descriptor: gnomonv1.File_gnomon_v1_playbook_service_proto.Services().ByName("PlaybookService"),
			document:   openapi.Playbooks,
		})
	}
	if s.Entities != nil {
		served = append(served, service{
			register:   func(g *grpc.Server) { gnomonv1.RegisterEntityServiceServer(g, s.Entities) },
			rest:       gnomonv1.RegisterEntityServiceHandler,
			descriptor: gnomonv1.File_gnomon_v1_entity_service_proto.Services().ByName("EntityService"),
			document:   openapi.Entities,
		})
	}
	return served
}

// close ends what services do beside their calls, after the last one, as long as ctx allows.
func (s Services) close(ctx context.Context) {
	if actions, ok := s.Actions.(*Actions); ok {
		actions.Close(ctx)
	}
}

// documents are the names of the OpenAPI documents of services.
func documents(served []service) []string {
	names := make([]string, len(served))
	for i, one := range served {
		names[i] = one.document
	}
	return names
}
