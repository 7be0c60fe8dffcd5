// Package pushserver is a small Notificator: it delivers pushes by printing them.
// It shows what a real one must do about the idempotency key.
package pushserver

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/reflection"
	"google.golang.org/grpc/status"

	notificatorv1 "gnomon/api/gnomon/notificator/v1"
)

// rememberedPushes is for how many pushes the idempotency key is remembered; a real
// service would store them for as long as retries may come.
const rememberedPushes = 10_000

// Server implements the service gnomon.notificator.v1.Notificator.
type Server struct {
	notificatorv1.UnimplementedNotificatorServer

	out       io.Writer
	failFirst int

	mu     sync.Mutex
	nextID uint64
	pushes map[string]*delivery
	// order has the keys of pushes, oldest first.
	order []string
}

// delivery is what is known of one idempotency key.
type delivery struct {
	calls int
	// id is empty until it is delivered.
	id string
}

// New makes a server that prints to out, a line for each call. It fails the first
// failFirst calls for every idempotency key with UNAVAILABLE.
func New(out io.Writer, failFirst int) *Server {
	return &Server{out: out, failFirst: failFirst, pushes: map[string]*delivery{}}
}

// GRPC is a gRPC server that serves s, health and reflection.
func (s *Server) GRPC() *grpc.Server {
	g := grpc.NewServer()
	notificatorv1.RegisterNotificatorServer(g, s)
	h := health.NewServer()
	h.SetServingStatus(notificatorv1.Notificator_ServiceDesc.ServiceName, healthv1.HealthCheckResponse_SERVING)
	healthv1.RegisterHealthServer(g, h)
	reflection.Register(g)
	return g
}

// SendTechnicalPush delivers a push once, however often it is called for it: later
// calls with its idempotency key print "again" and answer the same push_id.
// INVALID_ARGUMENT if the key is missing or the metadata has another one.
func (s *Server) SendTechnicalPush(ctx context.Context, r *notificatorv1.SendTechnicalPushRequest) (*notificatorv1.SendTechnicalPushResponse, error) {
	key := r.GetIdempotencyKey()
	if key == "" {
		return nil, status.Error(codes.InvalidArgument, "idempotency_key must not be empty")
	}
	for _, k := range metadata.ValueFromIncomingContext(ctx, "idempotency-key") {
		if k != key {
			return nil, status.Error(codes.InvalidArgument, "idempotency_key and the metadata idempotency-key must be the same")
		}
	}

	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.find(key)
	d.calls++
	switch {
	case d.id != "":
		s.print("again", r, d)
	case d.calls <= s.failFirst:
		s.print("failed", r, d)
		return nil, status.Errorf(codes.Unavailable, "call %d of %d that fail", d.calls, s.failFirst)
	default:
		s.nextID++
		d.id = fmt.Sprint("push-", s.nextID)
		s.print("push", r, d)
	}
	return &notificatorv1.SendTechnicalPushResponse{PushId: d.id}, nil
}

func (s *Server) find(key string) *delivery {
	if d, ok := s.pushes[key]; ok {
		return d
	}
	if len(s.order) >= rememberedPushes {
		delete(s.pushes, s.order[0])
		s.order = s.order[1:]
	}
	d := &delivery{}
	s.pushes[key] = d
	s.order = append(s.order, key)
	return d
}

// print quotes what came from outside, so that it stays one line, and shows the
// first 80 characters of the payload.
func (s *Server) print(what string, r *notificatorv1.SendTechnicalPushRequest, d *delivery) {
	fmt.Fprintf(s.out, "%s  %-6s  recipient=%q type=%q key=%q call=%d push_id=%s  %.80q\n",
		time.Now().Format("15:04:05.000"), what, r.GetRecipient(), r.GetType(), r.GetIdempotencyKey(), d.calls, d.id, r.GetPayload())
}
