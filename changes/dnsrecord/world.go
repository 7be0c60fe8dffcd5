package dnsrecord

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/miekg/dns"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/batch/records"
	"gnomon/changes"
)

// world is what stands at the names of a batch's changes, before the first of them and
// then after each. Changes are judged against what those before them leave.
type world struct {
	zone  Zone
	nodes map[string]*node
}

// node is what stands at a name.
type node struct {
	sets map[uint16]records.Set
	// elsewhere is as that of an answer.
	elsewhere string
	// by is which change of the batch touched a set last.
	by map[uint16]int
}

func newWorld(z Zone, answers map[question]answer) *world {
	w := &world{zone: z, nodes: map[string]*node{}}
	for q, a := range answers {
		n := w.at(q.name)
		maps.Copy(n.sets, a.sets)
		if a.elsewhere != "" {
			n.elsewhere = a.elsewhere
		}
	}
	return w
}

func (w *world) at(name string) *node {
	n, ok := w.nodes[name]
	if !ok {
		n = &node{sets: map[uint16]records.Set{}, by: map[uint16]int{}}
		w.nodes[name] = n
	}
	return n
}

// apply does a change to the world, whether it is valid or not: those after it are
// judged as if it had been.
func (w *world) apply(s subject) {
	n := w.at(s.Name)
	n.by[s.Type] = s.Index
	if s.Action == gnomonv1.DnsRecordChange_DELETE {
		delete(n.sets, s.Type)
		return
	}
	n.sets[s.Type] = s.Data
}

// judge says what stands against a change.
func (w *world) judge(s subject) []*gnomonv1.Problem {
	n := w.at(s.Name)
	found := w.place(s, n)
	if len(found) > 0 {
		return found
	}
	if s.Action == gnomonv1.DnsRecordChange_ADD {
		found = w.added(s, n)
	} else {
		found = w.changed(s, n)
	}
	return append(found, w.look(s)...)
}

// place says what is wrong with where a change is.
func (w *world) place(s subject, n *node) []*gnomonv1.Problem {
	if first, twice := n.by[s.Type]; twice {
		return []*gnomonv1.Problem{changes.Hard(s.Index, CodeDuplicateChange, "dns_record.name",
			"change %d of this batch changes the %s records of %s already; put both into one change", first, dns.TypeToString[s.Type], s.Name)}
	}
	// The name servers of a delegation stand in the zone that delegates.
	if n.elsewhere != "" && (n.elsewhere != s.Name || s.Type != dns.TypeNS) {
		return []*gnomonv1.Problem{changes.Hard(s.Index, records.CodeNameOutsideZone, "dns_record.name",
			"%s is not in the zone %s: from %s on it is delegated or redirected", s.Name, w.zone.Name, n.elsewhere)}
	}
	return nil
}

// added judges what is to be there and was not.
func (w *world) added(s subject, n *node) []*gnomonv1.Problem {
	switch {
	case len(n.sets[s.Type]) > 0:
		return []*gnomonv1.Problem{changes.Hard(s.Index, CodeRecordExists, "dns_record.name",
			"%s has %s records already%s", s.Name, dns.TypeToString[s.Type], n.since(s.Type))}
	case s.Type == dns.TypeCNAME:
		return w.alone(s, n)
	case len(n.sets[dns.TypeCNAME]) > 0:
		return []*gnomonv1.Problem{changes.Hard(s.Index, CodeCNAMEConflict, "dns_record.name",
			"%s has a CNAME record%s, beside which nothing else can stand", s.Name, n.since(dns.TypeCNAME))}
	default:
		return nil
	}
}

// alone judges a CNAME, which stands at its name alone (RFC 1034, section 3.6.2).
func (w *world) alone(s subject, n *node) []*gnomonv1.Problem {
	var others []string
	for kind, set := range n.sets {
		if len(set) > 0 && kind != dns.TypeRRSIG && kind != dns.TypeNSEC {
			others = append(others, dns.TypeToString[kind]+n.since(kind))
		}
	}
	if len(others) == 0 {
		return nil
	}
	slices.Sort(others)
	return []*gnomonv1.Problem{changes.Hard(s.Index, CodeCNAMEConflict, "dns_record.name",
		"%s has records of type %s, beside which no CNAME can stand", s.Name, strings.Join(others, ", "))}
}

// changed judges what is to replace or to remove what stands.
func (w *world) changed(s subject, n *node) []*gnomonv1.Problem {
	set := n.sets[s.Type]
	switch {
	case len(set) == 0:
		return []*gnomonv1.Problem{changes.Hard(s.Index, CodeRecordMissing, "dns_record.name",
			"%s has no %s records", s.Name, dns.TypeToString[s.Type])}
	case len(s.Previous) > 0 && !set.Equal(s.Previous):
		return []*gnomonv1.Problem{changes.Hard(s.Index, CodeRecordDiffers, "dns_record.previous_data",
			"the %s records of %s are others than previous_data says", dns.TypeToString[s.Type], s.Name)}
	case s.Action == gnomonv1.DnsRecordChange_DELETE && s.Type == dns.TypeNS && s.Name == w.zone.Name:
		return []*gnomonv1.Problem{changes.Hard(s.Index, CodeZoneNameServers, "dns_record.name",
			"the name servers of the zone %s can be updated and not deleted", w.zone.Name)}
	default:
		return nil
	}
}

// look is what a person should look at.
func (w *world) look(s subject) []*gnomonv1.Problem {
	var found []*gnomonv1.Problem
	ttl := w.zone.ttl(s.Change)
	if s.Action != gnomonv1.DnsRecordChange_DELETE && (ttl < w.zone.TTL.Min || ttl > w.zone.TTL.Max) {
		found = append(found, changes.Soft(s.Index, CodeTTLOutOfRange, "dns_record.ttl",
			"a time to live of %d s is not usual in the zone %s, which has %d to %d s", ttl, w.zone.Name, w.zone.TTL.Min, w.zone.TTL.Max))
	}
	if w.zone.highValue(s.Name) {
		found = append(found, changes.Soft(s.Index, CodeHighValueName, "dns_record.name",
			"%s is a name of high value, which a person changes", s.Name))
	}
	if owner := w.owner(s.Name); owner != "" && owner != s.Owner {
		found = append(found, changes.Soft(s.Index, CodeOwnedByAnother, "dns_record.owner",
			"%s is owned by %q", s.Name, owner))
	}
	return found
}

// owner is the label that owns a name, or empty.
func (w *world) owner(name string) string {
	for _, rr := range w.at(w.zone.ownerName(name)).sets[dns.TypeTXT] {
		if txt, ok := rr.(*dns.TXT); ok {
			if owner, says := strings.CutPrefix(strings.Join(txt.Txt, ""), "owner="); says {
				return owner
			}
		}
	}
	return ""
}

// since says which change of the batch made a set stand, if one did.
func (n *node) since(kind uint16) string {
	if by, ok := n.by[kind]; ok {
		return fmt.Sprintf(" (by change %d of this batch)", by)
	}
	return ""
}

// ttl is the time to live that a change gives to its records.
func (z Zone) ttl(c records.Change) uint32 {
	if c.TTL == 0 {
		return z.TTL.Default
	}
	return c.TTL
}
