package starter

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"google.golang.org/grpc"

	"gnomon/tracing"
)

// Defaults and limits of a ServerConfig.
const (
	// DefaultMaxRequestBytes is four specs of the greatest size.
	DefaultMaxRequestBytes = 1 << 20
	// minRequestBytes still takes the greatest spec, 256 KiB, as JSON.
	minRequestBytes = 512 << 10
	// DefaultCallTimeout bounds calls whose caller set no deadline.
	DefaultCallTimeout = 30 * time.Second
	// DefaultReadyInterval is the distance of two looks at readiness.
	DefaultReadyInterval = time.Second
)

// ServerConfig says where and how the facade serves. Zero fields get their
// defaults.
type ServerConfig struct {
	// GRPCAddress is host:port to serve gRPC at; port 0 takes a free one. Required.
	GRPCAddress string
	// HTTPAddress is host:port to serve REST at; port 0 takes a free one. Empty: no
	// REST.
	HTTPAddress string
	// MaxRequestBytes bounds a gRPC message and an HTTP body alike, at least
	// 512 KiB. Default DefaultMaxRequestBytes.
	MaxRequestBytes int
	// CallTimeout bounds calls whose caller set no deadline, streams excepted.
	// Positive. Default DefaultCallTimeout.
	CallTimeout time.Duration
	// ReadyInterval is the distance of two calls of the ready function. Positive.
	// Default DefaultReadyInterval.
	ReadyInterval time.Duration
	// Options are given to the gRPC server before its own: their interceptors see what
	// the caller gets, and are told nothing of what was sent.
	Options []grpc.ServerOption
	// Logger gets calls at debug, and what is broken at warn and error. Payloads are
	// never logged. Default slog.Default.
	Logger *slog.Logger
	// Tracing has each call be a span that goes on with its caller's trace. Default nil,
	// none.
	Tracing *tracing.Tracing
}

// WithDefaults gives the configuration with its zero fields filled in.
func (c ServerConfig) WithDefaults() ServerConfig {
	c.MaxRequestBytes = cmp.Or(c.MaxRequestBytes, DefaultMaxRequestBytes)
	c.CallTimeout = cmp.Or(c.CallTimeout, DefaultCallTimeout)
	c.ReadyInterval = cmp.Or(c.ReadyInterval, DefaultReadyInterval)
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	return c
}

// Validate says what is wrong with a configuration that has its defaults.
func (c ServerConfig) Validate() error {
	var problems []error
	if c.GRPCAddress == "" {
		problems = append(problems, errors.New("GRPCAddress must be host:port, is empty"))
	}
	if c.MaxRequestBytes < minRequestBytes {
		problems = append(problems, fmt.Errorf("MaxRequestBytes must be at least %d, is %d", minRequestBytes, c.MaxRequestBytes))
	}
	if c.CallTimeout <= 0 {
		problems = append(problems, fmt.Errorf("CallTimeout must be positive, is %s", c.CallTimeout))
	}
	if c.ReadyInterval <= 0 {
		problems = append(problems, fmt.Errorf("ReadyInterval must be positive, is %s", c.ReadyInterval))
	}
	return errors.Join(problems...)
}
