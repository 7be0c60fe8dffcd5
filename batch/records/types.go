package records

import (
	"github.com/miekg/dns"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// TypeOf is the DNS type of the contract's, dns.TypeNone where that is not known. The
// names of both are those of the registry.
func TypeOf(t gnomonv1.DnsRecordChange_Type) uint16 {
	if t == gnomonv1.DnsRecordChange_TYPE_UNSPECIFIED {
		return dns.TypeNone
	}
	return dns.StringToType[gnomonv1.DnsRecordChange_Type_name[int32(t)]]
}
