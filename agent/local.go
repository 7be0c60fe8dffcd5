package agent

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"strings"
	"time"

	"github.com/google/uuid"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/reflection"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"gnomon/agent/kind"
	"gnomon/agent/queue"
	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/playbook"
)

// listLimit bounds ListLocal, as its contract says.
const listLimit = 10_000

// longestSocket is what Linux, and nearly so every other system, takes as a socket's path.
const longestSocket = 107

// local is the API on the node itself.
type local struct {
	gnomonv1.UnimplementedAgentServiceServer

	agent *Agent
}

// serveLocal serves the local API, if there is to be one, until ctx ends.
func (x *Agent) serveLocal(ctx context.Context) (address string, failed <-chan error, err error) {
	failure := make(chan error, 1)
	if x.config.LocalAddress == "" {
		return "", failure, nil
	}
	listener, err := listenLocal(ctx, x.config.LocalAddress)
	if err != nil {
		return "", nil, err
	}
	server := grpc.NewServer()
	gnomonv1.RegisterAgentServiceServer(server, &local{agent: x})
	reflection.Register(server) // grpcurl finds its way
	context.AfterFunc(ctx, server.Stop)
	go func() {
		if err := server.Serve(listener); err != nil && ctx.Err() == nil {
			failure <- fmt.Errorf("the local API: %w", err)
		}
	}()
	if listener.Addr().Network() == "unix" {
		return "unix:" + listener.Addr().String(), failure, nil
	}
	return listener.Addr().String(), failure, nil
}

// listenLocal listens where only this node can reach: on a socket that its owner alone
// may open, or on the loopback.
func listenLocal(ctx context.Context, address string) (net.Listener, error) {
	var listen net.ListenConfig
	if path, ok := strings.CutPrefix(address, "unix:"); ok {
		return listenUnix(ctx, path)
	}
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("the local address %q must be unix:PATH or host:port: %w", address, err)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, fmt.Errorf("the local address %q must be on the loopback: the local API asks nobody who they are", address)
	}
	return listen.Listen(ctx, "tcp", address)
}

// listenUnix listens on a socket. One that a dead agent left would be in the way; the
// queue's lock says that it is dead.
func listenUnix(ctx context.Context, path string) (net.Listener, error) {
	if len(path) > longestSocket {
		return nil, fmt.Errorf("the local address unix:%s is %d bytes long, and a socket's path may have %d; choose another", path, len(path), longestSocket)
	}
	if info, err := os.Lstat(path); err == nil && info.Mode().Type() == fs.ModeSocket {
		if err := os.Remove(path); err != nil {
			return nil, err
		}
	}
	var listen net.ListenConfig
	listener, err := listen.Listen(ctx, "unix", path)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	return listener, nil
}

// ScheduleLocal adds an action to the queue.
func (l *local) ScheduleLocal(ctx context.Context, req *gnomonv1.ScheduleLocalRequest) (*gnomonv1.NodeAction, error) {
	a := proto.CloneOf(req.GetAction())
	if a == nil {
		return nil, status.Error(codes.InvalidArgument, "action must be set")
	}
	if a.GetApprove() {
		return nil, status.Error(codes.InvalidArgument, "action.approve: an agent asks nobody for approval")
	}
	if a.GetId() == "" {
		a.Id = uuid.NewString()
	}
	a.Cluster, a.Node, a.Origin = l.agent.config.Cluster, l.agent.config.Node, gnomonv1.NodeAction_AGENT
	a.Playbook, a.Stage, a.DecidedBy, a.OverwriteTime = "", "", "", nil
	a.CreateTime = timestamppb.New(time.Now())
	if err := wrong(a); err != nil {
		return nil, err
	}
	if err := l.agent.kinds.Permit(a); errors.Is(err, kind.ErrKind) {
		return nil, status.Error(codes.InvalidArgument, err.Error())
	} else if err != nil {
		return nil, status.Error(codes.PermissionDenied, err.Error())
	}
	stands, err := l.agent.queue.Add(ctx, a, time.Now())
	if err != nil {
		return nil, refusal(err)
	}
	l.agent.changed()
	l.agent.runner.Wake()
	return stands, nil
}

// wrong says all that the contract does not allow about an action, as the core would.
func wrong(a *gnomonv1.NodeAction) error {
	bad := &errdetails.BadRequest{}
	var said []string
	for _, v := range playbook.ValidateAction(a) {
		bad.FieldViolations = append(bad.FieldViolations, &errdetails.BadRequest_FieldViolation{
			Field: "action." + v.Field, Description: v.Description, Reason: v.Rule,
		})
		said = append(said, v.Description)
	}
	if len(said) == 0 {
		return nil
	}
	st, err := status.New(codes.InvalidArgument, strings.Join(said, "; ")).WithDetails(bad)
	if err != nil {
		return status.Error(codes.InvalidArgument, strings.Join(said, "; "))
	}
	return st.Err()
}

// GetLocal answers one action.
func (l *local) GetLocal(ctx context.Context, req *gnomonv1.GetLocalRequest) (*gnomonv1.NodeAction, error) {
	a, err := l.agent.queue.Get(ctx, req.GetId())
	return a, refusal(err)
}

// ListLocal answers all actions.
func (l *local) ListLocal(ctx context.Context, req *gnomonv1.ListLocalRequest) (*gnomonv1.ListLocalResponse, error) {
	all, err := l.agent.queue.List(ctx, req.GetShowFinished(), listLimit)
	if err != nil {
		return nil, refusal(err)
	}
	return &gnomonv1.ListLocalResponse{Actions: all}, nil
}

// CancelLocal stops an action.
func (l *local) CancelLocal(ctx context.Context, req *gnomonv1.CancelLocalRequest) (*gnomonv1.NodeAction, error) {
	if len(req.GetReason()) > playbook.MaxReason {
		return nil, status.Errorf(codes.InvalidArgument, "reason is %d bytes long, at most %d are allowed", len(req.GetReason()), playbook.MaxReason)
	}
	if _, err := l.agent.queue.Get(ctx, req.GetId()); err != nil {
		return nil, refusal(err)
	}
	if err := l.agent.cancel(ctx, req.GetId(), req.GetReason()); err != nil {
		return nil, refusal(err)
	}
	a, err := l.agent.queue.Get(ctx, req.GetId())
	return a, refusal(err)
}

// GetHealth says how the node is.
func (l *local) GetHealth(ctx context.Context, _ *gnomonv1.GetHealthRequest) (*gnomonv1.GetHealthResponse, error) {
	n, err := l.agent.queue.Unfinished(ctx)
	if err != nil {
		return nil, refusal(err)
	}
	up, why, when := l.agent.health.Look(ctx)
	return &gnomonv1.GetHealthResponse{
		Up: up, Reason: why, CheckTime: timestamppb.New(when), UnfinishedActions: n, TemporalReachable: l.agent.reachable.Load(),
	}, nil
}

// refusal maps the queue's errors to statuses.
func refusal(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, queue.ErrNotFound):
		return status.Error(codes.NotFound, err.Error())
	case errors.Is(err, queue.ErrOther):
		return status.Error(codes.AlreadyExists, err.Error())
	case errors.As(err, new(*queue.ClosedError)), errors.Is(err, queue.ErrFinished):
		return status.Error(codes.FailedPrecondition, err.Error())
	default:
		return status.Error(codes.Unavailable, "the queue does not answer")
	}
}
