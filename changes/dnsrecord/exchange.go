package dnsrecord

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/miekg/dns"
)

// queryFudge is how far apart the clocks may be for the signature of a query, in
// seconds (RFC 8945, section 10).
const queryFudge = 300

// conn is a connection to a zone's server. It is for one goroutine.
type conn struct {
	zone   Zone
	stream net.Conn
	// stop ends the watch over the caller's context.
	stop func() bool
}

// dial connects to a zone's server by TCP, over IPv4 or IPv6. The connection breaks
// when ctx ends.
func dial(ctx context.Context, z Zone) (*conn, error) {
	d := net.Dialer{Timeout: z.Timeout}
	c, err := d.DialContext(ctx, "tcp", z.Server)
	if err != nil {
		return nil, fmt.Errorf("the server of zone %s cannot be reached: %w", z.Name, err)
	}
	return &conn{zone: z, stream: c, stop: context.AfterFunc(ctx, func() { _ = c.Close() })}, nil
}

// close gives the connection up.
func (c *conn) close() {
	c.stop()
	_ = c.stream.Close() // nothing is under way any more
}

// errUnsigned says that an answer that must be signed is not.
var errUnsigned = errors.New("the answer is not signed by the key")

// exchange sends one message and takes its answer, whose signature it has checked where
// the message has one. An error says that there is no answer that can be believed;
// where there is one nevertheless, as with an error of the signature, it is returned
// too.
func (c *conn) exchange(ctx context.Context, m *dns.Msg) (*dns.Msg, error) {
	// The context's own end closes the connection.
	if err := c.stream.SetDeadline(time.Now().Add(c.zone.Timeout)); err != nil {
		return nil, c.broken(ctx, err)
	}
	// One for each exchange: it signs as if a message continued the one before.
	co := &dns.Conn{Conn: c.stream}
	signed := m.IsTsig() != nil
	if signed {
		co.TsigSecret = map[string]string{c.zone.Key.Name: c.zone.Key.Secret}
	}
	if err := co.WriteMsg(m); err != nil {
		return nil, c.broken(ctx, err)
	}
	r, err := co.ReadMsg()
	switch {
	case r == nil || err != nil && r.Rcode != dns.RcodeNotAuth && !errors.Is(err, dns.ErrTime):
		return nil, c.broken(ctx, err)
	case r.Id != m.Id || !r.Response || r.Opcode != m.Opcode:
		return nil, fmt.Errorf("the server of zone %s answered something else", c.zone.Name)
	case err != nil:
		return r, fmt.Errorf("the server of zone %s answers %s: %w", c.zone.Name, rcode(r), err)
	case signed && r.IsTsig() == nil:
		return r, fmt.Errorf("the server of zone %s answered %s: %w", c.zone.Name, rcode(r), errUnsigned)
	}
	return r, nil
}

// broken is the error of an exchange that had no answer.
func (c *conn) broken(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("the exchange with the server of zone %s was stopped: %w", c.zone.Name, ctx.Err())
	}
	return fmt.Errorf("the server of zone %s does not answer: %w", c.zone.Name, err)
}

// sign has a message signed when it is sent: at a time and valid for so many seconds
// before and after it.
func (z Zone) sign(m *dns.Msg, at time.Time, fudge uint16) {
	m.SetTsig(z.Key.Name, dns.Fqdn(z.Key.Algorithm), fudge, at.Unix())
}

// rcode names the answer's code, with the signature's error where there is one.
func rcode(r *dns.Msg) string {
	text := dns.RcodeToString[r.Rcode]
	if text == "" {
		text = fmt.Sprint("RCODE ", r.Rcode)
	}
	if t := r.IsTsig(); t != nil && t.Error != 0 {
		text += " (" + dns.RcodeToString[int(t.Error)] + ")"
	}
	return text
}
