package records

import (
	"cmp"

	"github.com/miekg/dns"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// Limits of one change.
const (
	// MaxRecords is how many records a set may have, as the contract says.
	MaxRecords = 100
	// MaxSetBytes is how long the new and the previous set may be together on the wire,
	// so that both fit one message beside its prerequisites and signature, at most
	// 65,535 bytes.
	MaxSetBytes = 48 << 10
	// MaxTTL is the greatest time to live (RFC 2181, section 8), in seconds.
	MaxTTL = 1<<31 - 1
	// MaxOwner is how long the label of an owner may be, in bytes.
	MaxOwner = 63
)

// Change is a DnsRecordChange that was understood.
type Change struct {
	Action gnomonv1.DnsRecordChange_Action
	// Name is canonical; Type is of the registry of DNS, such as dns.TypeA.
	Name string
	Type uint16
	// TTL in seconds; 0 stands for the installation's default.
	TTL uint32
	// Data is the set that shall stand, Previous the set that must, or empty.
	Data, Previous Set
	// Zone is canonical, or empty where none was said.
	Zone string
	// Owner is the label of who owns the record, or empty.
	Owner string
}

// Parse reads a change. Where it breaks rules there is at least one problem, each
// without an index and with the path of its field, and the change is not to be used.
func Parse(c *gnomonv1.DnsRecordChange) (Change, []*gnomonv1.Problem) {
	var p problems
	parsed := Change{Action: c.GetAction(), Type: TypeOf(c.GetType()), TTL: c.GetTtl(), Owner: c.GetOwner()}
	parsed.Name = p.name("dns_record.name", c.GetName(), parsed.Type)
	if c.GetZone() != "" {
		parsed.Zone = p.name("dns_record.zone", c.GetZone(), dns.TypeNone)
	}
	switch {
	case c.GetType() == gnomonv1.DnsRecordChange_TYPE_UNSPECIFIED:
		p.add(CodeRequired, "dns_record.type", "type must be set")
	case parsed.Type == dns.TypeNone:
		p.add(CodeUnsupported, "dns_record.type", "type is not one that this installation knows")
	}
	p.shape(c)
	if parsed.Name != "" && parsed.Zone != "" && !dns.IsSubDomain(parsed.Zone, parsed.Name) {
		p.add(CodeNameOutsideZone, "dns_record.name", "%s is not in the zone %s", parsed.Name, parsed.Zone)
	}
	if len(p) > 0 {
		return Change{}, p
	}
	parsed.Data = p.set("dns_record.data", parsed.Name, parsed.Type, parsed.TTL, c.GetData())
	parsed.Previous = p.set("dns_record.previous_data", parsed.Name, parsed.Type, 0, c.GetPreviousData())
	if size := parsed.Data.size() + parsed.Previous.size(); size > MaxSetBytes {
		p.add(CodeTooLong, "dns_record.data", "the records take %d bytes, at most %d are allowed", size, MaxSetBytes)
	}
	if len(p) > 0 {
		return Change{}, p
	}
	return parsed, nil
}

// shape is which fields go with which action, and their sizes.
func (p *problems) shape(c *gnomonv1.DnsRecordChange) {
	switch c.GetAction() {
	case gnomonv1.DnsRecordChange_ADD:
		if len(c.GetPreviousData()) > 0 {
			p.add(CodeNotAllowed, "dns_record.previous_data", "previous_data is for UPDATE and DELETE")
		}
	case gnomonv1.DnsRecordChange_UPDATE:
	case gnomonv1.DnsRecordChange_DELETE:
		if len(c.GetData()) > 0 {
			p.add(CodeNotAllowed, "dns_record.data", "data is for ADD and UPDATE; DELETE has previous_data")
		}
		if c.GetTtl() != 0 {
			p.add(CodeNotAllowed, "dns_record.ttl", "ttl is for ADD and UPDATE")
		}
	case gnomonv1.DnsRecordChange_ACTION_UNSPECIFIED:
		p.add(CodeRequired, "dns_record.action", "action must be set")
	default:
		p.add(CodeUnsupported, "dns_record.action", "action is not one that this installation knows")
	}
	if c.GetAction() != gnomonv1.DnsRecordChange_DELETE && len(c.GetData()) == 0 {
		p.add(CodeRequired, "dns_record.data", "data must have at least one record")
	}
	for _, f := range []struct {
		field string
		count int
	}{{"dns_record.data", len(c.GetData())}, {"dns_record.previous_data", len(c.GetPreviousData())}} {
		if f.count > MaxRecords {
			p.add(CodeTooMany, f.field, "there are %d records, at most %d are allowed", f.count, MaxRecords)
		}
	}
	if c.GetTtl() > MaxTTL {
		p.add(CodeOutOfRange, "dns_record.ttl", "ttl is %d, at most %d is allowed", c.GetTtl(), MaxTTL)
	}
	p.owner(c.GetOwner())
}

func (p *problems) owner(label string) {
	switch {
	case len(label) > MaxOwner:
		p.add(CodeTooLong, "dns_record.owner", "owner is %d bytes long, at most %d are allowed", len(label), MaxOwner)
	case !visible(label):
		p.add(CodeInvalidCharacter, "dns_record.owner", "owner may have visible ASCII characters only")
	}
}

// Check says what is wrong with a change by itself, as Parse does.
func Check(c *gnomonv1.DnsRecordChange) []*gnomonv1.Problem {
	_, found := Parse(c)
	return found
}

// Summary names the change for people, such as "add www.example.org. A".
func Summary(c *gnomonv1.DnsRecordChange) string {
	verb := map[gnomonv1.DnsRecordChange_Action]string{
		gnomonv1.DnsRecordChange_ADD: "add", gnomonv1.DnsRecordChange_UPDATE: "update", gnomonv1.DnsRecordChange_DELETE: "delete",
	}[c.GetAction()]
	return cmp.Or(verb, "change") + " " + dns.CanonicalName(c.GetName()) + " " + c.GetType().String()
}
