package isolation

import (
	"net"
	"sync"
)

// once is a listener that has one connection.
type once struct {
	conn net.Conn
	took bool
	// closed is closed when the connection is.
	closed chan struct{}
	close  sync.Once
}

func newOnce(conn net.Conn) *once { return &once{conn: conn, closed: make(chan struct{})} }

// Accept gives the connection, and then waits until that is closed.
func (o *once) Accept() (net.Conn, error) {
	if !o.took {
		o.took = true
		return watched{o.conn, o}, nil
	}
	<-o.closed
	return nil, net.ErrClosed
}

// Close ends the waiting of Accept.
func (o *once) Close() error {
	o.close.Do(func() { close(o.closed) })
	return nil
}

// Addr implements net.Listener.
func (o *once) Addr() net.Addr { return o.conn.LocalAddr() }

// watched is the connection; its end is the listener's.
type watched struct {
	net.Conn

	listener *once
}

// Close closes both.
func (w watched) Close() error {
	_ = w.listener.Close()
	return w.Conn.Close()
}
