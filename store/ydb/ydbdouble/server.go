package ydbdouble

import (
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ydb-platform/ydb-go-genproto/Ydb_Auth_V1"
	"github.com/ydb-platform/ydb-go-genproto/Ydb_Discovery_V1"
	"github.com/ydb-platform/ydb-go-genproto/Ydb_Query_V1"
	"github.com/ydb-platform/ydb-go-genproto/protos/Ydb"
	"github.com/ydb-platform/ydb-go-genproto/protos/Ydb_Auth"
	"github.com/ydb-platform/ydb-go-genproto/protos/Ydb_Discovery"
	"github.com/ydb-platform/ydb-go-genproto/protos/Ydb_Operations"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
)

// Database is the one that the server has.
const Database = "/local"

// nodeID is the server's only node.
const nodeID = 1

// maxMessage is the greatest message, as YDB's.
const maxMessage = 64 << 20

// Options say how a server listens and whom it serves. The zero Options are plain
// text for everybody on a free port of this machine.
type Options struct {
	// Address to listen on. Default 127.0.0.1:0.
	Address string
	// TLS, if there is one, is what the server speaks.
	TLS *tls.Config
	// Token, if there is one, is what clients must show.
	Token string
	// User and Password, if there are any, give clients the Token.
	User, Password string
}

// Server is a running double. Start makes one.
type Server struct {
	Ydb_Query_V1.UnimplementedQueryServiceServer
	Ydb_Discovery_V1.UnimplementedDiscoveryServiceServer
	Ydb_Auth_V1.UnimplementedAuthServiceServer

	options  Options
	address  string
	db       *database
	serving  sync.WaitGroup
	stopping chan struct{}

	// life is held by what changes grpc, which serves the port.
	life sync.Mutex
	grpc *grpc.Server

	executions, lastTransaction atomic.Uint64

	mu          sync.Mutex
	sessions    map[string]*session
	lastSession uint64
	choose      func(Execution) Fault
}

// Start starts a server, which Stop ends.
func Start(ctx context.Context, o Options) (*Server, error) {
	if o.Address == "" {
		o.Address = "127.0.0.1:0"
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", o.Address)
	if err != nil {
		return nil, err
	}
	db, err := openDatabase(ctx)
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	s := &Server{
		options: o, address: listener.Addr().String(), db: db, sessions: map[string]*session{}, stopping: make(chan struct{}),
	}
	s.serve(listener)
	return s, nil
}

// serve serves at a listener until Suspend or Stop.
func (s *Server) serve(listener net.Listener) {
	options := []grpc.ServerOption{
		grpc.MaxRecvMsgSize(maxMessage), grpc.MaxSendMsgSize(maxMessage),
		grpc.UnaryInterceptor(s.admitUnary), grpc.StreamInterceptor(s.admitStream),
		// YDB's SDKs ping every ten seconds, which gRPC's own rule would call too many.
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: time.Second, PermitWithoutStream: true}),
	}
	if s.options.TLS != nil {
		options = append(options, grpc.Creds(credentials.NewTLS(s.options.TLS)))
	}
	serving := grpc.NewServer(options...)
	Ydb_Query_V1.RegisterQueryServiceServer(serving, s)
	Ydb_Discovery_V1.RegisterDiscoveryServiceServer(serving, s)
	Ydb_Auth_V1.RegisterAuthServiceServer(serving, s)
	s.grpc = serving
	s.serving.Go(func() { _ = serving.Serve(listener) }) // it ends with Suspend or Stop
}

// Suspend closes the port and all connections, as a server does that is down: sessions
// end, and what was under way is done or not without an answer. The rows stay.
func (s *Server) Suspend() {
	s.life.Lock()
	defer s.life.Unlock()
	s.grpc.Stop()
	s.serving.Wait()
}

// Resume has a server that was suspended serve again at its address.
func (s *Server) Resume(ctx context.Context) error {
	s.life.Lock()
	defer s.life.Unlock()
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", s.address)
	if err != nil {
		return err
	}
	s.serve(listener)
	return nil
}

// Stop ends all calls and the server, and its data with it.
func (s *Server) Stop() error {
	s.life.Lock()
	defer s.life.Unlock()
	close(s.stopping)
	s.grpc.Stop()
	s.serving.Wait()
	return s.db.close()
}

// Address is host:port.
func (s *Server) Address() string { return s.address }

// ConnectionString is how clients reach an installation. An empty directory is the
// database's root.
func (s *Server) ConnectionString(directory string) string {
	scheme := "grpc"
	if s.options.TLS != nil {
		scheme = "grpcs"
	}
	connection := fmt.Sprintf("%s://%s%s", scheme, s.Address(), Database)
	if directory != "" {
		connection += "?directory=" + directory
	}
	return connection
}

// Plan has SQLite's plan of each SELECT noted from now on. Plans gives them.
func (s *Server) Plan() {
	s.db.turn <- struct{}{}
	defer func() { <-s.db.turn }()
	s.db.plans = map[string]string{}
}

// Plans are the plans by the statements they are of, as SQLite was given them.
func (s *Server) Plans() map[string]string {
	s.db.turn <- struct{}{}
	defer func() { <-s.db.turn }()
	return maps.Clone(s.db.plans)
}

// ListEndpoints implements discovery: the server itself.
func (s *Server) ListEndpoints(_ context.Context, r *Ydb_Discovery.ListEndpointsRequest) (*Ydb_Discovery.ListEndpointsResponse, error) {
	if r.GetDatabase() != Database {
		return &Ydb_Discovery.ListEndpointsResponse{Operation: &Ydb_Operations.Operation{Ready: true, Status: Ydb.StatusIds_NOT_FOUND}}, nil
	}
	host, port, err := net.SplitHostPort(s.Address())
	if err != nil {
		return nil, err
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return nil, err
	}
	done, err := operation(&Ydb_Discovery.ListEndpointsResult{Endpoints: []*Ydb_Discovery.EndpointInfo{{
		Address: host, Port: uint32(n), Ssl: s.options.TLS != nil, NodeId: nodeID,
	}}})
	return &Ydb_Discovery.ListEndpointsResponse{Operation: done}, err
}

// Login implements authentication.
func (s *Server) Login(_ context.Context, r *Ydb_Auth.LoginRequest) (*Ydb_Auth.LoginResponse, error) {
	if s.options.User == "" || r.GetUser() != s.options.User || r.GetPassword() != s.options.Password {
		return &Ydb_Auth.LoginResponse{Operation: &Ydb_Operations.Operation{Ready: true, Status: Ydb.StatusIds_UNAUTHORIZED}}, nil
	}
	done, err := operation(&Ydb_Auth.LoginResult{Token: s.loginToken()})
	return &Ydb_Auth.LoginResponse{Operation: done}, err
}

// loginToken is the token of those who logged in. As YDB's it is a JSON web token,
// from which clients read when to log in again.
func (s *Server) loginToken() string {
	parts := []string{`{"alg":"HS256","typ":"JWT"}`, `{"iat":0,"exp":253402300799}`, s.options.Token}
	for i, part := range parts {
		parts[i] = base64.RawURLEncoding.EncodeToString([]byte(part))
	}
	return strings.Join(parts, ".")
}

// operation is one that has succeeded.
func operation(result proto.Message) (*Ydb_Operations.Operation, error) {
	packed, err := anypb.New(result)
	return &Ydb_Operations.Operation{Ready: true, Status: Ydb.StatusIds_SUCCESS, Result: packed}, err
}

// admit refuses those without the token or of another database.
func (s *Server) admit(ctx context.Context, method string) error {
	if method == Ydb_Auth_V1.AuthService_Login_FullMethodName {
		return nil
	}
	headers, _ := metadata.FromIncomingContext(ctx)
	ticket := headers.Get("x-ydb-auth-ticket")
	if s.options.Token != "" && !contains(ticket, s.options.Token) && !contains(ticket, s.loginToken()) {
		return status.Error(codes.Unauthenticated, "Access denied")
	}
	if method != Ydb_Discovery_V1.DiscoveryService_ListEndpoints_FullMethodName && !contains(headers.Get("x-ydb-database"), Database) {
		return status.Error(codes.Unauthenticated, "the header x-ydb-database names another database")
	}
	return nil
}

func contains(values []string, want string) bool { return len(values) == 1 && values[0] == want }

func (s *Server) admitUnary(ctx context.Context, r any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
	if err := s.admit(ctx, info.FullMethod); err != nil {
		return nil, err
	}
	return next(ctx, r)
}

func (s *Server) admitStream(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, next grpc.StreamHandler) error {
	if err := s.admit(stream.Context(), info.FullMethod); err != nil {
		return err
	}
	return next(srv, stream)
}
