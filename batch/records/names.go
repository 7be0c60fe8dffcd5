package records

import (
	"net/netip"
	"strings"

	"github.com/miekg/dns"
)

// name reads the name of a record of a type, or of a zone (dns.TypeNone). Every
// character is visible and none has a meaning in zone files.
func (p *problems) name(field, text string, kind uint16) string {
	name := dns.CanonicalName(text)
	_, valid := dns.IsDomainName(text)
	switch {
	case text == "":
		p.add(CodeRequired, field, "it must be set")
	case !visible(text) || strings.ContainsAny(text, "\"\\;()@$"):
		p.add(CodeInvalidName, field, "a name may have visible ASCII characters only, none of \" \\ ; ( ) @ $; others are written by Punycode")
	case !valid || strings.HasPrefix(text, "."):
		p.add(CodeInvalidName, field, "it is not a domain name: labels have 1 to 63 bytes, a name at most 255")
	case strings.Contains(strings.TrimPrefix(name, "*."), "*"):
		p.add(CodeInvalidName, field, "a star stands for the whole first label or is not there")
	case kind == dns.TypeNone && strings.HasPrefix(name, "*."):
		p.add(CodeInvalidName, field, "a zone has no star in its name")
	case ownedByHost(kind) && !isHost(strings.TrimPrefix(name, "*.")):
		p.add(CodeInvalidName, field, "records of this type belong to hosts, whose labels have letters, digits and inner hyphens only (RFC 1123)")
	default:
		return name
	}
	return ""
}

// ownedByHost says whether a type's owner is a host. BIND refuses others by default
// (check-names).
func ownedByHost(kind uint16) bool {
	return kind == dns.TypeA || kind == dns.TypeAAAA || kind == dns.TypeMX
}

// isHost says whether a canonical name is a host's (RFC 952, RFC 1123).
func isHost(name string) bool {
	if name == "." {
		return false
	}
	for label := range strings.SplitSeq(strings.TrimSuffix(name, "."), ".") {
		if strings.HasPrefix(label, "-") || strings.HasSuffix(label, "-") || label == "" {
			return false
		}
		if strings.ContainsFunc(label, func(r rune) bool {
			return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-'
		}) {
			return false
		}
	}
	return true
}

// isAddress says whether a name is an IP address that was written where a name belongs.
func isAddress(name string) bool {
	_, err := netip.ParseAddr(strings.TrimSuffix(name, "."))
	return err == nil
}

// visible says whether text is visible ASCII without spaces.
func visible(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' })
}
