// Package devserver runs a Temporal server and its Web UI inside the calling
// process, on SQLite or on a PostgreSQL. It serves gnomon-dev, tests and measurements;
// production uses a Temporal of its own.
//
// A server on a data directory is durable: what it acknowledged is on disk, so
// that a kill -9 and, as far as the disk honours fsync, a loss of power lose
// nothing. A server without one lives in memory and is gone with Stop.
//
//	srv, err := devserver.Start(ctx, devserver.Config{DataDir: ".gnomon"})
//	...
//	defer srv.Stop()
//	c, err := client.Dial(client.Options{HostPort: srv.Address()})
//
// It is the only package that imports go.temporal.io/server, which keeps that
// out of the production binary.
package devserver
