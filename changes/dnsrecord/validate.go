package dnsrecord

import (
	"context"
	"slices"

	"github.com/miekg/dns"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/batch/records"
	"gnomon/changes"
)

// subject is a change that was understood.
type subject struct {
	changes.Subject
	records.Change
}

// Validate implements changes.Kind. It reads every name that is changed, and nothing
// else of a zone.
func (k *Kind) Validate(ctx context.Context, _ changes.Batch, all []changes.Subject) ([]*gnomonv1.Problem, error) {
	var found []*gnomonv1.Problem
	byZone := map[string][]subject{}
	for _, one := range all {
		parsed, problems := records.Parse(one.Change.GetDnsRecord())
		for _, p := range problems {
			index := int32(one.Index)
			p.ChangeIndex = &index
		}
		found = append(found, problems...)
		if len(problems) > 0 {
			continue
		}
		z, ok := k.zoneOf(parsed)
		if !ok {
			found = append(found, notServed(one.Index, parsed))
			continue
		}
		byZone[z.Name] = append(byZone[z.Name], subject{one, parsed})
	}
	for zone, subjects := range byZone {
		problems, err := k.zones[zone].validate(ctx, subjects)
		if err != nil {
			return nil, err
		}
		found = append(found, problems...)
	}
	slices.SortStableFunc(found, func(a, b *gnomonv1.Problem) int {
		return int(a.GetChangeIndex() - b.GetChangeIndex())
	})
	return found, nil
}

func notServed(index int, c records.Change) *gnomonv1.Problem {
	if c.Zone != "" {
		return changes.Hard(index, CodeZoneNotServed, "dns_record.zone", "the zone %s is not served by this installation", c.Zone)
	}
	return changes.Hard(index, CodeZoneNotServed, "dns_record.name", "%s is in no zone that this installation serves", c.Name)
}

// validate judges the changes of one zone, in their order.
func (z Zone) validate(ctx context.Context, all []subject) ([]*gnomonv1.Problem, error) {
	served, err := z.serves(ctx)
	if err != nil {
		return nil, err
	}
	var found []*gnomonv1.Problem
	if !served {
		for _, s := range all {
			found = append(found, changes.Hard(s.Index, CodeZoneNotServed, "dns_record.name", "the server of the zone %s does not serve it", z.Name))
		}
		return found, nil
	}
	answers, err := z.stands(ctx, z.questions(all))
	if err != nil {
		return nil, err
	}
	w := newWorld(z, answers)
	for _, s := range all {
		// What it has done itself is no problem (V-16). Where that does not stand, it has
		// yet to be done, and the world must be fit for it.
		if !s.InDoubt || !z.done(s.Change, w.at(s.Name).sets[s.Type]) {
			found = append(found, w.judge(s)...)
		}
		w.apply(s)
	}
	return found, nil
}

// questions are what has to be known to judge changes. A query of any type shows a
// CNAME too.
func (z Zone) questions(all []subject) []question {
	var list []question
	seen := map[question]bool{}
	ask := func(name string, kind uint16) {
		if q := (question{name, kind}); !seen[q] {
			seen[q] = true
			list = append(list, q)
		}
	}
	for _, s := range all {
		ask(s.Name, s.Type)
		ask(z.ownerName(s.Name), dns.TypeTXT)
		if s.Type == dns.TypeCNAME && s.Action == gnomonv1.DnsRecordChange_ADD {
			ask(s.Name, dns.TypeANY)
		}
	}
	return list
}
