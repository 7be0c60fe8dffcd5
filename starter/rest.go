package starter

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/test/bufconn"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"gnomon/api/openapi"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// Time limits of HTTP. There is none for a whole exchange: Watch has no end.
const (
	readHeaderTimeout = 10 * time.Second
	readBodyTimeout   = 30 * time.Second
	writeTimeout      = time.Minute
	idleTimeout       = 2 * time.Minute
	maxHeaderBytes    = 64 << 10
)

// restServer is the same services as JSON over HTTP. It calls the gRPC server
// through a connection within the process, so that a call is treated alike
// however it comes.
type restServer struct {
	http *http.Server
	conn *grpc.ClientConn
}

// newRESTServer makes the HTTP side of a server whose gRPC side listens at pipe.
func newRESTServer(config ServerConfig, services []service, pipe *bufconn.Listener, ready func() bool) (*restServer, error) {
	conn, err := grpc.NewClient("passthrough:///gnomon",
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return pipe.DialContext(ctx) }),
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		// Answers are as big as they are; the limit is for what clients send.
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(math.MaxInt32)),
	)
	if err != nil {
		return nil, fmt.Errorf("connect REST to gRPC: %w", err)
	}
	rules, err := readHTTPRules(services)
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	bodies := &restRequests{rules: rules, limit: config.MaxRequestBytes, callTimeout: config.CallTimeout}
	mux := runtime.NewServeMux(
		runtime.WithMarshalerOption(runtime.MIMEWildcard, &runtime.JSONPb{
			MarshalOptions: protojson.MarshalOptions{UseProtoNames: false, EmitUnpopulated: false},
		}),
		runtime.WithMiddlewares(bodies.check),
		runtime.WithErrorHandler(writeError),
		runtime.WithRoutingErrorHandler(writeRoutingError),
		runtime.WithStreamErrorHandler(streamError),
		runtime.WithForwardResponseOption(writeETag),
		runtime.WithForwardResponseOption(speakable),
		// The headers of gRPC mean nothing to who speaks REST.
		runtime.WithOutgoingHeaderMatcher(func(string) (string, bool) { return "", false }),
		// An id may hold an escaped "%2F": it must reach the rules, not the router.
		runtime.WithUnescapingMode(runtime.UnescapingModeAllExceptReserved),
		// A form must not turn a POST into another method.
		runtime.WithDisablePathLengthFallback(),
		runtime.WithDisableHTTPMethodOverride(),
		runtime.WithMetadata(config.Tracing.Metadata),
	)
	bodies.mux = mux
	for _, one := range services {
		if err := one.rest(context.Background(), mux, conn); err != nil {
			return nil, errors.Join(fmt.Errorf("register REST: %w", err), conn.Close())
		}
	}
	document, err := openapi.Document(documents(services)...)
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return &restServer{conn: conn, http: &http.Server{
		Handler:           routes(mux, document, ready),
		ReadHeaderTimeout: readHeaderTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          slog.NewLogLogger(config.Logger.Handler(), slog.LevelWarn),
	}}, nil
}

// stop waits for requests under way until ctx ends, then breaks them off.
func (s *restServer) stop(ctx context.Context) error {
	err := s.http.Shutdown(ctx)
	if err != nil {
		err = errors.Join(err, s.http.Close())
	}
	return errors.Join(err, s.conn.Close())
}

// routes sends a request to the service or to what is beside it. It is no
// http.ServeMux, which would redirect paths instead of refusing them.
func routes(service *runtime.ServeMux, document []byte, ready func() bool) http.Handler {
	// A page of another origin must not command a facade that its reader can reach.
	origins := http.NewCrossOriginProtection()
	origins.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		writeError(r.Context(), service, jsonMarshaler(service, r), w, r, errCrossOrigin())
	}))
	guarded := origins.Handler(service)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		reads := r.Method == http.MethodGet || r.Method == http.MethodHead
		switch {
		case reads && r.URL.Path == "/healthz":
			writeText(w, http.StatusOK, "ok")
		case reads && r.URL.Path == "/readyz" && ready():
			writeText(w, http.StatusOK, "ready")
		case reads && r.URL.Path == "/readyz":
			writeText(w, http.StatusServiceUnavailable, "not ready")
		case reads && r.URL.Path == "/openapi.json":
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write(document)
		default:
			guarded.ServeHTTP(w, r)
		}
	})
}

func writeText(w http.ResponseWriter, code int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(code)
	_, _ = io.WriteString(w, text+"\n")
}

// writeETag gives the entity tag of what is answered, for If-Match: the Guid of an action,
// the etag of a batch.
func writeETag(_ context.Context, w http.ResponseWriter, reply proto.Message) error {
	var tag string
	switch one := reply.(type) {
	case *gnomonv1.ScheduledAction:
		tag = one.GetMeta().GetGuid()
	case *gnomonv1.Batch:
		tag = one.GetEtag()
	}
	if tag != "" && !strings.ContainsAny(tag, "\"\r\n") {
		w.Header().Set("ETag", `"`+tag+`"`)
	}
	return nil
}
