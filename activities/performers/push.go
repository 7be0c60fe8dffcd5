package performers

import (
	"context"
	"errors"
	"fmt"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	notificatorv1 "gnomon/api/gnomon/notificator/v1"
	"gnomon/outbound"
	"gnomon/tracing"
)

// pushServiceConfig spreads calls over all addresses of a name. gRPC does no
// retries of its own: they are the spec's.
const pushServiceConfig = `{"loadBalancingConfig":[{"round_robin":{}}]}`

// maxPushReplyBytes bounds a reply of the Notificator, which holds but an id.
const maxPushReplyBytes = 64 << 10

// push performs send_technical_push over one shared connection (M-04).
type push struct {
	// conn is nil where no Notificator is configured.
	conn   *grpc.ClientConn
	client notificatorv1.NotificatorClient
}

// newPush reads the TLS files and dials nothing: the connection is made by the
// first call.
func newPush(c NotificatorConfig) (*push, error) {
	if c.Address == "" {
		return &push{}, nil
	}
	creds, err := credentialsOf(c.TLS)
	if err != nil {
		return nil, err
	}
	// By default gRPC lets up to two minutes pass between tries to connect, and
	// calls fail meanwhile: longer than the distance of the retries that would find
	// the service back.
	connect := grpc.ConnectParams{Backoff: backoff.DefaultConfig, MinConnectTimeout: 5 * time.Second}
	connect.Backoff.MaxDelay = time.Second
	conn, err := grpc.NewClient(
		c.Address,
		grpc.WithTransportCredentials(creds),
		grpc.WithUserAgent(outbound.UserAgent),
		grpc.WithConnectParams(connect),
		grpc.WithDefaultServiceConfig(pushServiceConfig),
		grpc.WithMaxHeaderListSize(outbound.MaxReplyHeaderBytes),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxPushReplyBytes)),
	)
	if err != nil {
		return nil, fmt.Errorf("Notificator.Address %q cannot be used: %w", c.Address, err)
	}
	return &push{conn: conn, client: notificatorv1.NewNotificatorClient(conn)}, nil
}

// Close ends the connection.
func (p *push) Close() error {
	if p.conn == nil {
		return nil
	}
	return p.conn.Close()
}

// Perform calls the Notificator once. Every status but OK is a failure that may be
// retried; the reply's text is then the Notificator's message, and otherwise the
// id it gave to the push.
func (p *push) Perform(ctx context.Context, r Request) (Reply, error) {
	spec := r.Action.GetSendTechnicalPush()
	if spec == nil {
		return Reply{}, misdirected(kindPush)
	}
	if p.client == nil {
		return Reply{}, Permanent(errors.New("this worker knows no Notificator: set its address (Notificator.Address, --notificator-address)"))
	}
	call, cancel := outbound.Limit(ctx, timeLimit(spec.GetTimeout()))
	defer cancel()

	var header, trailer metadata.MD
	traced, span := beginRPC(call.Context(), notificatorv1.Notificator_SendTechnicalPush_FullMethodName)
	resp, err := p.client.SendTechnicalPush(
		metadata.AppendToOutgoingContext(traced, "idempotency-key", r.IdempotencyKey),
		&notificatorv1.SendTechnicalPushRequest{
			Recipient:      spec.GetRecipient(),
			Type:           spec.GetType(),
			Payload:        spec.GetPayload(),
			IdempotencyKey: r.IdempotencyKey,
		},
		grpc.Header(&header), grpc.Trailer(&trailer),
	)
	tracing.End(span, err)
	if err != nil {
		answered := header.Len()+trailer.Len() > 0
		return pushError(call, status.Convert(err), answered)
	}
	return Reply{Text: Shorten(resp.GetPushId())}, nil
}

// pushError tells a status that the Notificator answered, whose message is its own
// words, from one that gRPC made because there was no answer.
func pushError(call outbound.Limited, s *status.Status, answered bool) (Reply, error) {
	const what = "the call to the Notificator"
	if err := call.Ended(what); err != nil {
		return Reply{}, err
	}
	switch {
	case answered:
		return Reply{Text: Shorten(s.Message())}, fmt.Errorf("the Notificator answered %s", s.Code())
	case s.Code() == codes.DeadlineExceeded:
		// The server learns the deadline and may cut the call a moment before our
		// own timer does.
		return Reply{}, call.Expired(what)
	default:
		return Reply{}, fmt.Errorf("%s failed with %s: %s", what, s.Code(), s.Message())
	}
}
