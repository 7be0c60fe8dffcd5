package contenders

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"go.temporal.io/sdk/client"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"gnomon/activities/performers"
	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/starter"
	"gnomon/store"
	"gnomon/worker"
)

// ErrUnmirrored is a create that the mirror did not take in time. The action waits all
// the same, and its workflow sees to the row.
var ErrUnmirrored = errors.New("the mirror does not show")

// GnomonConfig is what gnomon is put together from.
type GnomonConfig struct {
	// Client of Temporal, for facade and worker.
	Client client.Client
	// Store has the mirror. It is not closed.
	Store store.Store
	// Queue is the task queue.
	Queue string
	// NoWorker leaves the worker out.
	NoWorker bool
	Logger   *slog.Logger
}

// release names the build as a release does.
const release = "v1.0.0"

// GnomonService is gnomon: its facade on a port of the loopback interface, its worker
// and a client of the facade.
type GnomonService struct {
	// Actions is a client of the facade.
	Actions gnomonv1.ActionServiceClient

	facade *starter.Server
	worker *worker.Worker
	conn   *grpc.ClientConn
}

// NewGnomon starts gnomon.
func NewGnomon(c GnomonConfig) (_ *GnomonService, err error) {
	g := &GnomonService{}
	defer func() {
		if err != nil {
			g.Close()
		}
	}()
	if !c.NoWorker {
		w, err := worker.New(c.Client, worker.Config{
			TaskQueue: c.Queue, Store: c.Store, Performers: performers.Default(), Pollers: Pollers,
			StopGrace: time.Second, Logger: c.Logger, Build: release,
		})
		if err != nil {
			return nil, err
		}
		if err := w.Start(); err != nil {
			return nil, err
		}
		g.worker = w
	}
	actions, err := starter.NewActions(starter.Config{Client: c.Client, TaskQueue: c.Queue, Store: c.Store, Build: release, Logger: c.Logger})
	if err != nil {
		return nil, err
	}
	g.facade, err = starter.NewServer(starter.ServerConfig{GRPCAddress: "127.0.0.1:0", Logger: c.Logger}, starter.Services{Actions: actions}, actions.Ready)
	if err != nil {
		return nil, err
	}
	if err := g.facade.Start(); err != nil {
		return nil, err
	}
	return g, g.dial(g.facade.GRPCAddr())
}

// DialGnomon is a gnomon whose facade and worker are elsewhere.
func DialGnomon(address string) (*GnomonService, error) {
	g := &GnomonService{}
	return g, g.dial(address)
}

func (g *GnomonService) dial(address string) (err error) {
	g.conn, err = grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	g.Actions = gnomonv1.NewActionServiceClient(g.conn)
	return err
}

// Address is where the facade serves gRPC.
func (g *GnomonService) Address() string { return g.facade.GRPCAddr() }

// Name implements Contender.
func (g *GnomonService) Name() string { return Gnomon }

// Resolution implements Contender.
func (g *GnomonService) Resolution() time.Duration { return 0 }

// Create implements Contender.
func (g *GnomonService) Create(ctx context.Context, j Job) error {
	a, err := g.Actions.CreateAction(ctx, &gnomonv1.CreateActionRequest{Action: Action(j)})
	if err != nil {
		return err
	}
	if len(a.GetStatus().GetConditions()) > 0 {
		return fmt.Errorf("%w %s", ErrUnmirrored, j.ID)
	}
	return nil
}

// Repeat implements Repeater.
func (g *GnomonService) Repeat(ctx context.Context, j Job, every time.Duration, times int) error {
	a := Action(j)
	a.Spec.SendPolicy = &gnomonv1.SendPolicy{
		Policy: &gnomonv1.SendPolicy_SendPeriodicallyPolicy{SendPeriodicallyPolicy: &gnomonv1.SendPeriodicallyPolicy{
			Period: durationpb.New(every),
		}},
		Deadline: timestamppb.New(j.Due.Add(time.Duration(times)*every - every/2)),
	}
	_, err := g.Actions.CreateAction(ctx, &gnomonv1.CreateActionRequest{Action: a})
	return err
}

// Action is a job as gnomon's users write it.
func Action(j Job) *gnomonv1.ScheduledAction {
	return &gnomonv1.ScheduledAction{
		Meta: &gnomonv1.Meta{Id: j.ID},
		Spec: &gnomonv1.Spec{
			StartPolicy: &gnomonv1.StartPolicy{StartAt: timestamppb.New(j.Due)},
			SendPolicy:  &gnomonv1.SendPolicy{Policy: &gnomonv1.SendPolicy_SendOncePolicy{SendOncePolicy: &gnomonv1.SendOncePolicy{}}},
			Action: &gnomonv1.Action{Action: &gnomonv1.Action_HttpRequest{HttpRequest: &gnomonv1.HttpRequest{
				Url: j.URL, Body: j.Body,
			}}},
		},
	}
}

// Close implements Contender.
func (g *GnomonService) Close() {
	if g.conn != nil {
		_ = g.conn.Close()
	}
	if g.facade != nil {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		_ = g.facade.Stop(ctx)
	}
	if g.worker != nil {
		g.worker.Stop()
	}
}
