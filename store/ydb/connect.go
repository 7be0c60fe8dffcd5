package ydb

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/ydb-platform/ydb-go-genproto/protos/Ydb"
	"github.com/ydb-platform/ydb-go-sdk/v3"
	"github.com/ydb-platform/ydb-go-sdk/v3/config"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
)

// probeTimeout bounds each step of finding out why a server does not answer.
const probeTimeout = 2 * time.Second

// longestPause lies between two tries to connect to a server that is away, at most. gRPC's
// own grows to two minutes, for which a store that is back after one would still not be
// written to (F5).
const longestPause = 2 * time.Second

// again says how connecting is tried again, each time for so long.
func again(within time.Duration) grpc.ConnectParams {
	pauses := backoff.DefaultConfig
	pauses.BaseDelay, pauses.MaxDelay = 200*time.Millisecond, longestPause
	return grpc.ConnectParams{Backoff: pauses, MinConnectTimeout: within}
}

// connect opens the SDK's driver. An error says in a sentence what is wrong.
func connect(ctx context.Context, c Config, t target) (*ydb.Driver, error) {
	who, err := credentials(c.Getenv)
	if err != nil {
		return nil, err
	}
	roots, err := rootCertificates(c.Getenv)
	if err != nil {
		return nil, err
	}
	options := []ydb.Option{
		who, ydb.WithApplicationName("gnomon"), ydb.WithDialTimeout(c.ConnectTimeout),
		ydb.With(config.WithGrpcOptions(grpc.WithConnectParams(again(c.ConnectTimeout)))),
		ydb.WithSessionPoolSizeLimit(sessions),
	}
	if roots != nil {
		options = append(options, ydb.WithCertificatesFromPem(roots))
	}
	opening, cancel := context.WithTimeout(ctx, c.ConnectTimeout)
	defer cancel()
	driver, err := ydb.Open(opening, t.dsn, options...)
	if err == nil {
		return driver, nil
	}
	if ended := ctx.Err(); ended != nil {
		return nil, ended
	}
	return nil, explain(ctx, t, roots, legible(err))
}

// explain finds out why a driver could not be opened. The SDK repeats until its time
// is over and then knows only that.
func explain(ctx context.Context, t target, roots []byte, err error) error {
	switch {
	case ydb.IsOperationError(err, Ydb.StatusIds_UNAUTHORIZED), ydb.IsTransportError(err, codes.Unauthenticated, codes.PermissionDenied):
		return fmt.Errorf("%s refuses the credentials for the database %s: %w", t.endpoint, t.database, err)
	case ydb.IsOperationError(err, Ydb.StatusIds_NOT_FOUND, Ydb.StatusIds_SCHEME_ERROR):
		return fmt.Errorf("there is no database %s at %s: %w", t.database, t.endpoint, err)
	case !ydb.IsTimeoutError(err) && !ydb.IsTransportError(err) && !errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%s cannot be used: %w", t.endpoint, err)
	}
	if reason := probe(ctx, t, roots); reason != nil {
		return fmt.Errorf("%s cannot be reached: %w", t.endpoint, reason)
	}
	return fmt.Errorf("%s accepts connections, but does not answer as a YDB that has the database %s: %w", t.endpoint, t.database, err)
}

// probe connects as gRPC does, but step by step, so that it sees what fails. Nil
// says that nothing did.
func probe(ctx context.Context, t target, roots []byte) error {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", t.endpoint)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }() // nothing was written
	host, _, err := net.SplitHostPort(t.endpoint)
	if err != nil {
		return err
	}
	handshake := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: host, NextProtos: []string{"h2"}}
	if !t.secure {
		handshake.InsecureSkipVerify = true // only to see whether it is TLS at all
		if tls.Client(conn, handshake).HandshakeContext(ctx) == nil {
			return errors.New("it speaks TLS: use grpcs://")
		}
		return nil
	}
	if roots != nil {
		handshake.RootCAs = x509.NewCertPool()
		handshake.RootCAs.AppendCertsFromPEM(roots)
	}
	err = tls.Client(conn, handshake).HandshakeContext(ctx)
	var plain tls.RecordHeaderError
	var unknown x509.UnknownAuthorityError
	switch {
	case errors.As(err, &plain):
		return errors.New("it does not speak TLS: use grpc://")
	case errors.As(err, &unknown):
		return fmt.Errorf("its certificate is signed by nobody known: set %s: %w", envRootCerts, err)
	default:
		return err
	}
}
