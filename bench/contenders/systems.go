package contenders

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"go.temporal.io/sdk/client"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"gnomon/activities/performers"
	"gnomon/agent"
	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/changes/kinds"
	"gnomon/stages"
	"gnomon/starter"
	"gnomon/store"
	"gnomon/worker"
)

// SystemsConfig is what gnomon with all its systems is put together from.
type SystemsConfig struct {
	// Client of Temporal, for facade, worker and agents.
	Client client.Client
	// Store holds batches, playbooks and entities. It is not closed.
	Store store.Store
	// Queue is the task queue.
	Queue string
	// Dir is where the agents have their queues.
	Dir string
	// Nodes are those of Cluster.
	Nodes  []string
	Logger *slog.Logger
}

const (
	// Cluster is the one whose nodes have agents.
	Cluster = "bench"
	// EntityType is what the stage watches: its Process sends the content's body to its url.
	EntityType = "offer"
)

// Systems is gnomon with its batches, an agent on each node and one stage.
type Systems struct {
	Batches   gnomonv1.BatchServiceClient
	Clusters  gnomonv1.ClusterServiceClient
	Playbooks gnomonv1.PlaybookServiceClient
	Entities  gnomonv1.EntityServiceClient

	ends []func()
}

// NewSystems starts them.
func NewSystems(ctx context.Context, c SystemsConfig) (_ *Systems, err error) {
	s := &Systems{}
	defer func() {
		if err != nil {
			s.Close()
		}
	}()
	kinds, err := kinds.New(kinds.Config{})
	if err != nil {
		return nil, err
	}
	s.ends = append(s.ends, func() { _ = kinds.Close() })
	declared := stages.NewSet(stages.Declare(stages.Declaration{Name: "sender", EntityType: EntityType, Go: "sender"}, sender{newPoster()}, c.Logger))
	w, err := worker.New(c.Client, worker.Config{
		TaskQueue: c.Queue, Store: c.Store, Performers: performers.Default(), Changes: kinds, Stages: declared,
		Pollers: Pollers, StopGrace: time.Second, Logger: c.Logger, Build: release,
	})
	if err != nil {
		return nil, err
	}
	if err := w.Start(); err != nil {
		return nil, err
	}
	s.ends = append(s.ends, w.Stop)
	services, ready, err := starter.NewServices(starter.Config{
		Client: c.Client, TaskQueue: c.Queue, Store: c.Store, Stages: declared, Changes: kinds, Build: release, Logger: c.Logger,
	})
	if err != nil {
		return nil, err
	}
	facade, err := starter.NewServer(starter.ServerConfig{GRPCAddress: "127.0.0.1:0", Logger: c.Logger}, services, ready)
	if err != nil {
		return nil, err
	}
	if err := facade.Start(); err != nil {
		return nil, err
	}
	s.ends = append(s.ends, func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		_ = facade.Stop(ctx)
	})
	conn, err := grpc.NewClient(facade.GRPCAddr(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return nil, err
	}
	s.ends = append(s.ends, func() { _ = conn.Close() })
	s.Batches, s.Clusters = gnomonv1.NewBatchServiceClient(conn), gnomonv1.NewClusterServiceClient(conn)
	s.Playbooks, s.Entities = gnomonv1.NewPlaybookServiceClient(conn), gnomonv1.NewEntityServiceClient(conn)
	for _, node := range c.Nodes {
		if err := s.agent(ctx, c, node); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// agent starts the agent of a node.
func (s *Systems) agent(ctx context.Context, c SystemsConfig, node string) error {
	dir := filepath.Join(c.Dir, node)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	started, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- agent.Run(ctx, agent.Config{
			Cluster: Cluster, Node: node, DataDir: dir, Client: c.Client, ClusterTaskQueue: c.Queue,
			StopGrace: time.Second, Logger: c.Logger,
		}, func(string) { close(started) })
	}()
	select {
	case <-started:
	case err := <-ended:
		cancel()
		return fmt.Errorf("the agent of %s: %w", node, err)
	}
	s.ends = append(s.ends, func() {
		cancel()
		if err := <-ended; err != nil {
			c.Logger.Error("The agent ended with an error.", "node", node, "error", err)
		}
	})
	return nil
}

// Close ends what NewSystems started.
func (s *Systems) Close() {
	for len(s.ends) > 0 {
		s.ends[len(s.ends)-1]()
		s.ends = s.ends[:len(s.ends)-1]
	}
}

// sender is a stage that sends what an entity says, and changes nothing.
type sender struct{ *poster }

// ShouldProcess implements stages.Stage.
func (sender) ShouldProcess(context.Context, *gnomonv1.ShouldProcessRequest) (*gnomonv1.ShouldProcessResponse, error) {
	return &gnomonv1.ShouldProcessResponse{Answer: &gnomonv1.ShouldProcessResponse_ShouldProcess{ShouldProcess: true}}, nil
}

// Process implements stages.Stage.
func (s sender) Process(ctx context.Context, r *gnomonv1.ProcessRequest) (*gnomonv1.ProcessResponse, error) {
	fields := r.GetEntity().GetContent().GetFields()
	in := Input{URL: fields["url"].GetStringValue(), Body: []byte(fields["body"].GetStringValue())}
	return &gnomonv1.ProcessResponse{}, s.Post(ctx, in)
}
