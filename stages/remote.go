package stages

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/status"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/outbound"
	"gnomon/tracing"
)

const (
	// firstReconnect and longestReconnect are the pauses between attempts to reach a
	// stage that is down. gRPC adds up to a fifth, and by default waits up to two minutes:
	// a stage is to be worked with as soon as it is back.
	firstReconnect   = 100 * time.Millisecond
	longestReconnect = 1600 * time.Millisecond
	connectTimeout   = 5 * time.Second
	// deadAfter is when a connection is given up on which what was sent is not
	// acknowledged, or a ping not answered.
	deadAfter = 20 * time.Second
	// pingEvery is as seldom as any server allows that is not told otherwise: one that
	// is pinged more often than every five minutes may hang up.
	pingEvery = 5*time.Minute + 10*time.Second
	// maxReply bounds a reply, which holds a content, 256 KiB, and a state.
	maxReply = 4 << 20
)

// spread has calls go to all addresses of a name. gRPC does no retries of its own: the
// entity's workflow does.
const spread = `{"loadBalancingConfig":[{"round_robin":{}}]}`

// remote is a stage that a server implements.
type remote struct {
	conn    *grpc.ClientConn
	client  gnomonv1.StageServiceClient
	silence *silence
	// refused is the last error of a server that could not be reached.
	refused atomic.Pointer[error]
}

var (
	_ Saver    = (*remote)(nil)
	_ Absentee = (*remote)(nil)
)

// newRemote reads the TLS files and dials nothing: the first call does.
func newRemote(d Declaration) (*remote, error) {
	secured := insecure.NewCredentials()
	if d.TLS != nil {
		config, err := d.TLS.Config("ca", "cert and key")
		if err != nil {
			return nil, fmt.Errorf("tls: %w", err)
		}
		secured = credentials.NewTLS(config)
	}
	connect := grpc.ConnectParams{Backoff: backoff.DefaultConfig, MinConnectTimeout: connectTimeout}
	connect.Backoff.BaseDelay, connect.Backoff.MaxDelay = firstReconnect, longestReconnect
	conn, err := grpc.NewClient(
		d.Address,
		grpc.WithTransportCredentials(secured),
		grpc.WithUserAgent(outbound.UserAgent),
		grpc.WithConnectParams(connect),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: pingEvery, Timeout: deadAfter}),
		grpc.WithDefaultServiceConfig(spread),
		grpc.WithMaxHeaderListSize(outbound.MaxReplyHeaderBytes),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxReply)),
	)
	if err != nil {
		return nil, fmt.Errorf("address cannot be used: %w", err)
	}
	return &remote{conn: conn, client: gnomonv1.NewStageServiceClient(conn), silence: newSilence(conn)}, nil
}

// ShouldProcess implements Stage.
func (r *remote) ShouldProcess(ctx context.Context, q *gnomonv1.ShouldProcessRequest) (*gnomonv1.ShouldProcessResponse, error) {
	if err := r.silence.refuses(); err != nil {
		return nil, err
	}
	ctx, span := beginCall(ctx, gnomonv1.StageService_ShouldProcess_FullMethodName)
	answer, err := r.client.ShouldProcess(ctx, q)
	r.ended(err)
	tracing.End(span, err)
	return answer, err
}

// Process implements Stage.
func (r *remote) Process(ctx context.Context, q *gnomonv1.ProcessRequest) (*gnomonv1.ProcessResponse, error) {
	if err := r.silence.refuses(); err != nil {
		return nil, err
	}
	ctx, span := beginCall(ctx, gnomonv1.StageService_Process_FullMethodName)
	answer, err := r.client.Process(ctx, q)
	r.ended(err)
	tracing.End(span, err)
	return answer, err
}

// ended takes how a call ended.
func (r *remote) ended(err error) {
	r.silence.suspect(err)
	if status.Code(err) == codes.Unavailable {
		r.refused.Store(&err)
	}
}

// Absent implements Absentee. Whether the server is back is found out beside it.
func (r *remote) Absent() error {
	if err := r.silence.refuses(); err != nil {
		return err
	}
	if err := r.refused.Load(); err != nil && r.conn.GetState() == connectivity.TransientFailure {
		return *err
	}
	return nil
}

// OnSaved implements Saver.
func (r *remote) OnSaved(ctx context.Context, q *gnomonv1.OnSavedRequest) (*gnomonv1.OnSavedResponse, error) {
	ctx, span := beginCall(ctx, gnomonv1.StageService_OnSaved_FullMethodName)
	answer, err := r.client.OnSaved(ctx, q)
	tracing.End(span, err)
	return answer, err
}

// Close ends the connection.
func (r *remote) Close() error {
	r.silence.end()
	return r.conn.Close()
}

// answers waits until there is a connection, and says whether one came about before ctx
// ended.
func (r *remote) answers(ctx context.Context) bool {
	r.conn.Connect()
	for {
		state := r.conn.GetState()
		if state == connectivity.Ready {
			return true
		}
		if !r.conn.WaitForStateChange(ctx, state) {
			return false
		}
	}
}

// beginCall begins a span of what the stage is called for, and has the call carry it.
func beginCall(ctx context.Context, method string) (context.Context, trace.Span) {
	if !trace.SpanContextFromContext(ctx).IsValid() {
		return ctx, trace.SpanFromContext(ctx)
	}
	method = strings.TrimPrefix(method, "/")
	ctx, span := tracing.Begin(ctx, method, trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(
		semconv.RPCSystemNameGRPC, semconv.RPCMethod(method),
	))
	return tracing.InjectRPC(ctx), span
}
