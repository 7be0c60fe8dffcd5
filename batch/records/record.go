package records

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/miekg/dns"
)

// maxRecord bounds the text of one record, in bytes.
const maxRecord = 64 << 10

func itoa(i int) string { return strconv.Itoa(i) }

// record reads one record. The reason says what is wrong with it and does not repeat
// it.
func record(name string, kind uint16, ttl uint32, text string) (rr dns.RR, reason string) {
	if reason := plainLine(text); reason != "" {
		return nil, reason
	}
	rr, err := dns.NewRR(fmt.Sprintf("%s %d IN %s %s", name, ttl, dns.TypeToString[kind], text))
	switch {
	case err != nil || rr == nil:
		return nil, "it is not the data of a record of type " + dns.TypeToString[kind]
	case rr.Header().Rrtype != kind || rr.Header().Name != name:
		return nil, "it is more than the data of one record"
	}
	lower(rr)
	if _, err := dns.PackRR(rr, make([]byte, dns.MaxMsgSize), 0, nil, false); err != nil {
		return nil, "it cannot be sent as a record of type " + dns.TypeToString[kind]
	}
	return rr, content(rr)
}

// plainLine is what is wrong with the text of a record before its type is looked at: it
// must be one line in which a zone file sees no comment, no continuation and no further
// record.
func plainLine(text string) string {
	if strings.TrimSpace(text) == "" {
		return "it is empty"
	}
	if len(text) > maxRecord {
		return fmt.Sprintf("it is %d bytes long, at most %d are allowed", len(text), maxRecord)
	}
	if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' }) {
		return `it may have ASCII characters only and no control characters; others are written as \DDD`
	}
	quoted, escaped := false, false
	for _, r := range text {
		switch {
		case escaped:
			escaped = false
		case r == '\\':
			escaped = true
		case r == '"':
			quoted = !quoted
		case !quoted && strings.ContainsRune(";()", r):
			return "a ; ( or ) outside quotes begins something else in a zone file; put the text in double quotes"
		}
	}
	if quoted || escaped {
		return "a quote or an escape is not closed"
	}
	return ""
}

// content is what is wrong with a record that can be written and sent.
func content(rr dns.RR) string {
	switch r := rr.(type) {
	case *dns.CNAME:
		if r.Target == r.Hdr.Name {
			return "the alias of a name cannot be the name itself"
		}
		return target(r.Target, false)
	case *dns.MX:
		if r.Mx == "." && r.Preference != 0 {
			return "an MX record that says there is no mail has the preference 0 (RFC 7505)"
		}
		if r.Mx == "." {
			return ""
		}
		return target(r.Mx, true)
	case *dns.NS:
		return target(r.Ns, true)
	case *dns.SRV:
		if r.Target == "." {
			return ""
		}
		return target(r.Target, true)
	case *dns.PTR:
		return target(r.Ptr, reverse(r.Hdr.Name))
	case *dns.CAA:
		return authority(r)
	default:
		return ""
	}
}

// reverse says whether a name is one of the reverse lookup of addresses, which leads to
// hosts.
func reverse(name string) bool {
	return dns.IsSubDomain("in-addr.arpa.", name) || dns.IsSubDomain("ip6.arpa.", name)
}

func target(name string, host bool) string {
	switch {
	case name == ".":
		return "a target cannot be the root"
	case isAddress(name):
		return "a target is a name, not an address"
	case host && !isHost(name):
		return "a target is a host, whose labels have letters, digits and inner hyphens only (RFC 1123)"
	default:
		return ""
	}
}

// authority judges a CAA record (RFC 8659, section 4.1).
func authority(r *dns.CAA) string {
	if r.Flag != 0 && r.Flag != 128 {
		return "the flags of a CAA record are 0 or 128"
	}
	if r.Tag == "" || len(r.Tag) > 15 || strings.ContainsFunc(r.Tag, func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9')
	}) {
		return "the tag of a CAA record has 1 to 15 letters and digits"
	}
	return ""
}
