package bindtest

import (
	"encoding/binary"
	"io"
	"net"
	"sync"
	"testing"

	"github.com/miekg/dns"
	"github.com/stretchr/testify/require"
)

// Proxy stands between a worker and a server and says when an update passes. Only TCP
// goes through it.
type Proxy struct {
	// Address is where it listens.
	Address string

	server   string
	listener net.Listener
	all      sync.WaitGroup

	mu     sync.Mutex
	conns  map[net.Conn]bool
	closed bool
	watch  Watch
}

// Watch is told of every update that changes something. Its functions are called one
// after the other for one update, and may take their time. Any may be nil.
type Watch struct {
	// Asked is called when the worker has sent the update and before the server has it.
	// The update goes on only if it returns true.
	Asked func(*dns.Msg) bool
	// Answered is called when the server has answered and before the worker knows, with
	// the update and the answer. The answer goes on only if it returns true.
	Answered func(update, answer *dns.Msg) bool
	// Told is called when the answer was passed on.
	Told func(*dns.Msg)
}

// Proxy starts one that ends with the test.
func (s *Server) Proxy(t *testing.T) *Proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // nothing to wait for
	require.NoError(t, err)
	p := &Proxy{Address: l.Addr().String(), server: s.Address(), listener: l, conns: map[net.Conn]bool{}}
	p.all.Go(p.serve)
	t.Cleanup(p.close)
	return p
}

// Watch replaces who is told.
func (p *Proxy) Watch(w Watch) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.watch = w
}

func (p *Proxy) watching() Watch {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.watch
}

func (p *Proxy) close() {
	p.mu.Lock()
	p.closed = true
	for c := range p.conns {
		_ = c.Close()
	}
	p.mu.Unlock()
	_ = p.listener.Close()
	p.all.Wait()
}

// keep notes a connection, so that close ends it.
func (p *Proxy) keep(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.conns[c] = true
	return !p.closed
}

func (p *Proxy) serve() {
	for {
		c, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.all.Go(func() { p.pass(c) })
	}
}

// pass passes the messages of one connection on, each with its answer.
func (p *Proxy) pass(worker net.Conn) {
	defer worker.Close()
	if !p.keep(worker) {
		return
	}
	server, err := net.Dial("tcp", p.server) //nolint:noctx // close ends it
	if err != nil {
		return
	}
	defer server.Close()
	if !p.keep(server) {
		return
	}
	for {
		ask, err := message(worker)
		if err != nil || !p.exchange(worker, server, ask) {
			return
		}
	}
}

// exchange passes one message on and says whether the connection goes on.
func (p *Proxy) exchange(worker, server net.Conn, ask []byte) bool {
	m := new(dns.Msg)
	w := p.watching()
	update := m.Unpack(ask[2:]) == nil && m.Opcode == dns.OpcodeUpdate && len(m.Ns) > 0
	if update && w.Asked != nil && !w.Asked(m) {
		return false
	}
	if _, err := server.Write(ask); err != nil {
		return false
	}
	answer, err := message(server)
	if err != nil {
		return false
	}
	if update && w.Answered != nil {
		r := new(dns.Msg)
		if err := r.Unpack(answer[2:]); err != nil || !w.Answered(m, r) {
			return false
		}
	}
	if _, err := worker.Write(answer); err != nil {
		return false
	}
	if update && w.Told != nil {
		w.Told(m)
	}
	return true
}

// message reads a message with its length before it (RFC 1035, section 4.2.2).
func message(from io.Reader) ([]byte, error) {
	var length [2]byte
	if _, err := io.ReadFull(from, length[:]); err != nil {
		return nil, err
	}
	whole := make([]byte, 2+int(binary.BigEndian.Uint16(length[:])))
	copy(whole, length[:])
	_, err := io.ReadFull(from, whole[2:])
	return whole, err
}
