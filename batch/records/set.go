package records

import (
	"bytes"
	"slices"
	"strings"

	"github.com/miekg/dns"
)

// Set is the records of one name and type, in any order. Their class is IN.
type Set []dns.RR

// set reads the records of a set.
func (p *problems) set(field, name string, kind uint16, ttl uint32, data []string) Set {
	var s Set
	for i, text := range data {
		at := field + "[" + itoa(i) + "]"
		rr, reason := record(name, kind, ttl, text)
		switch {
		case reason != "":
			p.add(CodeInvalidData, at, "%s", reason)
		case slices.ContainsFunc(s, func(other dns.RR) bool { return bytes.Equal(rdata(rr), rdata(other)) }):
			p.add(CodeDuplicate, at, "the record is there twice")
		default:
			s = append(s, rr)
		}
	}
	if reason := together(kind, s); reason != "" {
		p.add(CodeInvalidData, field, "%s", reason)
	}
	return s
}

// together is what is wrong with records that are each right.
func together(kind uint16, s Set) string {
	if len(s) < 2 {
		return ""
	}
	if kind == dns.TypeCNAME {
		return "a name has at most one CNAME record"
	}
	for _, rr := range s {
		if mx, ok := rr.(*dns.MX); ok && mx.Mx == "." {
			return "an MX record that says there is no mail (RFC 7505) stands alone"
		}
	}
	return ""
}

// Equal says whether two sets have the same records, whatever their order, case of
// names, way of writing and time to live.
func (s Set) Equal(other Set) bool {
	return slices.EqualFunc(s.sorted(), other.sorted(), bytes.Equal)
}

// HasTTL says whether every record of the set has this time to live.
func (s Set) HasTTL(ttl uint32) bool {
	return !slices.ContainsFunc(s, func(rr dns.RR) bool { return rr.Header().Ttl != ttl })
}

// WithTTL is a copy of the set with this time to live.
func (s Set) WithTTL(ttl uint32) Set {
	c := s.Copy()
	for _, rr := range c {
		rr.Header().Ttl = ttl
	}
	return c
}

// Copy shares nothing with the set; what makes messages changes the records in them.
func (s Set) Copy() Set {
	var c Set
	for _, rr := range s {
		c = append(c, dns.Copy(rr))
	}
	return c
}

// Without are the records of the set that another does not have.
func (s Set) Without(other Set) Set {
	taken := other.sorted()
	return slices.DeleteFunc(s.Copy(), func(rr dns.RR) bool {
		return slices.ContainsFunc(taken, func(b []byte) bool { return bytes.Equal(b, rdata(rr)) })
	})
}

// Data are the records in presentation format, as DnsRecordChange has them.
func (s Set) Data() []string {
	var all []string
	for _, rr := range s {
		all = append(all, strings.TrimPrefix(rr.String(), rr.Header().String()))
	}
	return all
}

func (s Set) sorted() [][]byte {
	var all [][]byte
	for _, rr := range s {
		all = append(all, rdata(rr))
	}
	slices.SortFunc(all, bytes.Compare)
	return all
}

// size is how many bytes the set takes on the wire.
func (s Set) size() int {
	n := 0
	for _, rr := range s {
		n += dns.Len(rr)
	}
	return n
}

// rdata is the record's data as it goes over the wire, names in lower case.
func rdata(rr dns.RR) []byte {
	c := dns.Copy(rr)
	lower(c)
	c.Header().Name = "."
	buf := make([]byte, dns.Len(c)+1)
	n, err := dns.PackRR(c, buf, 0, nil, false)
	if err != nil {
		// What was parsed or came over the wire can be packed; were it not, the text
		// still tells records apart.
		return []byte(c.String())
	}
	const header = 1 + 2 + 2 + 4 + 2 // the name ".", type, class, TTL, length
	return buf[header:n]
}

// lower puts the names in a record's data in lower case.
func lower(rr dns.RR) {
	switch r := rr.(type) {
	case *dns.CNAME:
		r.Target = dns.CanonicalName(r.Target)
	case *dns.MX:
		r.Mx = dns.CanonicalName(r.Mx)
	case *dns.NS:
		r.Ns = dns.CanonicalName(r.Ns)
	case *dns.PTR:
		r.Ptr = dns.CanonicalName(r.Ptr)
	case *dns.SRV:
		r.Target = dns.CanonicalName(r.Target)
	}
}
