package dnsrecord

import (
	"math"
	"time"

	"github.com/miekg/dns"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/batch/records"
	"gnomon/changes"
)

// message is the update that does a change. What must stand before is a prerequisite,
// which also keeps servers from dropping silently what they do not allow (RFC 2136,
// section 3.4.2): records beside a CNAME, the zone's last name server.
func (z Zone) message(c records.Change, standing records.Set) *dns.Msg {
	m := new(dns.Msg).SetUpdate(z.Name)
	one := []dns.RR{&dns.ANY{Hdr: dns.RR_Header{Name: c.Name, Rrtype: c.Type}}}
	set := c.Data.WithTTL(z.ttl(c))
	if c.Action == gnomonv1.DnsRecordChange_ADD {
		if c.Type == dns.TypeCNAME {
			m.NameNotUsed(one)
		} else {
			m.RRsetNotUsed(one)
			m.RRsetNotUsed([]dns.RR{&dns.ANY{Hdr: dns.RR_Header{Name: c.Name, Rrtype: dns.TypeCNAME}}})
		}
		m.Insert(set)
		return m
	}
	if z.own(c) {
		// RemoveRRset would be ignored here, so exactly what goes is removed, after what
		// comes is there.
		m.Used(standing.Copy())
		m.Insert(set)
		m.Remove(standing.Without(set))
		return m
	}
	if len(c.Previous) > 0 {
		m.Used(c.Previous.Copy())
	} else {
		m.RRsetUsed(one)
	}
	m.RemoveRRset(one)
	m.Insert(set)
	return m
}

// own says whether a change is about the zone's own name servers.
func (z Zone) own(c records.Change) bool { return c.Type == dns.TypeNS && c.Name == z.Name }

// fudge is for how many seconds after its begin a signature of a turn is valid: the
// last second that the server's clock may show then ends before the turn does, as long
// as the server's clock is not behind ours by more than ClockSkew. A turn of which
// nothing remains that way has none.
func (z Zone) fudge(t changes.Turn) (uint16, bool) {
	last := t.Expires.Add(-z.ClockSkew).Unix() - 1
	seconds := last - t.Begun.Unix()
	// 0 would mean the library's default.
	if seconds < 1 || time.Now().Unix() > last {
		return 0, false
	}
	return uint16(min(seconds, math.MaxUint16)), true
}
