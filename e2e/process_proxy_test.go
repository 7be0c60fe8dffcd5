package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// proxy stands between a facade and Temporal and can swallow the reply of a call
// that Temporal has committed: the failpoint of F3.
type proxy struct {
	address string
	to      *grpc.ClientConn
	// holding is the method whose replies are held, empty for none.
	holding atomic.Pointer[string]
	// held says that a call was committed whose reply is held.
	held chan struct{}
}

func proxied(t *testing.T, address string) *proxy {
	t.Helper()
	to, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	p := &proxy{to: to, held: make(chan struct{}, 100)}
	none := ""
	p.holding.Store(&none)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	p.address = l.Addr().String()
	server := grpc.NewServer(grpc.ForceServerCodec(bytesCodec{}), grpc.UnknownServiceHandler(p.pass))
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	t.Cleanup(func() {
		server.Stop()
		require.NoError(t, <-ended)
		require.NoError(t, to.Close())
	})
	return p
}

// hold holds the replies of a method from now on.
func (p *proxy) hold(method string) { p.holding.Store(&method) }

// pass passes a call on, metadata and errors included. Temporal's are all unary.
func (p *proxy) pass(_ any, stream grpc.ServerStream) error {
	method, ok := grpc.MethodFromServerStream(stream)
	if !ok {
		return status.Error(codes.Internal, "a stream without a method")
	}
	var request, reply []byte
	if err := stream.RecvMsg(&request); err != nil {
		return err
	}
	headers, _ := metadata.FromIncomingContext(stream.Context())
	ctx := metadata.NewOutgoingContext(stream.Context(), headers)
	hold := *p.holding.Load()
	if hold != "" && strings.HasSuffix(method, "/"+hold) {
		// The caller may leave: what it asked for happens all the same.
		if err := p.to.Invoke(context.WithoutCancel(ctx), method, &request, &reply, grpc.ForceCodec(bytesCodec{})); err != nil {
			return err
		}
		p.held <- struct{}{}
		<-stream.Context().Done()
		return stream.Context().Err()
	}
	if err := p.to.Invoke(ctx, method, &request, &reply, grpc.ForceCodec(bytesCodec{})); err != nil {
		return err
	}
	return stream.SendMsg(&reply)
}

// bytesCodec leaves messages as they are.
type bytesCodec struct{}

var errNotBytes = errors.New("not a message in bytes")

// Marshal implements encoding.Codec.
func (bytesCodec) Marshal(v any) ([]byte, error) {
	if b, ok := v.(*[]byte); ok {
		return *b, nil
	}
	return nil, fmt.Errorf("%w: %T", errNotBytes, v)
}

// Unmarshal implements encoding.Codec.
func (bytesCodec) Unmarshal(data []byte, v any) error {
	if b, ok := v.(*[]byte); ok {
		*b = bytes.Clone(data)
		return nil
	}
	return fmt.Errorf("%w: %T", errNotBytes, v)
}

// Name implements encoding.Codec.
func (bytesCodec) Name() string { return "proto" }
