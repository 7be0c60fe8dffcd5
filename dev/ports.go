package dev

import (
	"context"
	"errors"
	"fmt"
	"net"
)

// checkPorts says at once which flag names a port that is taken, before anything
// has been started: the parts that listen there know nothing of flags, and the last
// of them would come only when all the others run. A port of 0 is always free.
func checkPorts(ctx context.Context, o options) error {
	var taken []error
	for _, p := range []struct {
		flag string
		port int
	}{
		{"--temporal-port", o.temporalPort},
		{"--ui-port", o.uiPort},
		{"--grpc-port", o.grpcPort},
		{"--http-port", o.httpPort},
		{"--receiver-port", o.receiverPort},
		{"--metrics-port", o.metricsPort},
	} {
		if p.port == 0 {
			continue
		}
		var listen net.ListenConfig
		l, err := listen.Listen(ctx, "tcp", address(p.port))
		if err != nil {
			taken = append(taken, fmt.Errorf("%s: %w", p.flag, err))
			continue
		}
		_ = l.Close()
	}
	if len(taken) == 0 {
		return nil
	}
	return fmt.Errorf("%w\nanother gnomon-dev may be running; other ports can be given, 0 takes any free one", errors.Join(taken...))
}
