package dnsrecord

import (
	"context"
	"errors"
	"fmt"

	"github.com/miekg/dns"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/batch/records"
	"gnomon/changes"
)

// Apply implements changes.Kind by one signed update message.
//
// The change is rejected where its prerequisites do not hold, and where the server finds
// the message itself wrong (FORMERR, NOTZONE). Everything else that is not success is
// tried again: no or an unsigned answer, SERVFAIL, REFUSED and NOTAUTH, which are about
// the server or its key and not about the record.
func (k *Kind) Apply(ctx context.Context, _ changes.Batch, s changes.Subject, t changes.Turn) error {
	c, problems := records.Parse(s.Change.GetDnsRecord())
	if len(problems) > 0 {
		return changes.Reject(errors.New(problems[0].GetMessage()))
	}
	z, ok := k.zoneOf(c)
	if !ok {
		return fmt.Errorf("this worker does not serve the zone of %s", c.Name)
	}
	if !z.Key.set() {
		return fmt.Errorf("this worker has no key for the zone %s", z.Name)
	}
	var standing records.Set
	if t.Resumed || z.own(c) {
		var err error
		if standing, err = z.standing(ctx, c); err != nil {
			return err
		}
		if t.Resumed && z.done(c, standing) {
			return nil
		}
	}
	conn, err := dial(ctx, z)
	if err != nil {
		return err
	}
	defer conn.close()
	return conn.update(ctx, c, standing, t)
}

// update sends the change and judges the answer.
func (c *conn) update(ctx context.Context, change records.Change, standing records.Set, t changes.Turn) error {
	if c.zone.own(change) {
		if len(change.Previous) > 0 && !standing.Equal(change.Previous) {
			return reject(change, "are others than previous_data says")
		}
		if len(standing) == 0 || change.Action == gnomonv1.DnsRecordChange_DELETE {
			return reject(change, "cannot be deleted")
		}
	}
	m := c.zone.message(change, standing)
	fudge, ok := c.zone.fudge(t)
	if !ok {
		return changes.ErrExpired
	}
	c.zone.sign(m, t.Begun, fudge)
	if err := t.Check(); err != nil {
		return err
	}
	r, err := c.exchange(ctx, m)
	if err != nil {
		return c.unbelieved(r, err, t)
	}
	switch r.Rcode {
	case dns.RcodeSuccess:
		return nil
	case dns.RcodeYXDomain, dns.RcodeYXRrset, dns.RcodeNXRrset, dns.RcodeNameError:
		return c.unmet(ctx, change, r, t)
	case dns.RcodeFormatError, dns.RcodeNotZone:
		return changes.Reject(fmt.Errorf("the server of zone %s answers %s", c.zone.Name, rcode(r)))
	default:
		return fmt.Errorf("the server of zone %s answers %s to an update", c.zone.Name, rcode(r))
	}
}

// unbelieved is the error of an answer that is not signed, or says that the message was
// not signed well.
func (c *conn) unbelieved(r *dns.Msg, err error, t changes.Turn) error {
	if r == nil || r.Rcode != dns.RcodeNotAuth {
		return err
	}
	if sig := r.IsTsig(); sig != nil && sig.Error == dns.RcodeBadTime && t.Check() != nil {
		return changes.ErrExpired
	}
	return fmt.Errorf("the server of zone %s answers %s: check the key and both clocks", c.zone.Name, rcode(r))
}

// unmet judges an update whose prerequisites do not hold: it was done by an earlier
// turn, or what stands is not what must.
func (c *conn) unmet(ctx context.Context, change records.Change, r *dns.Msg, t changes.Turn) error {
	if t.Resumed {
		standing, err := c.zone.standing(ctx, change)
		if err != nil {
			return err
		}
		if c.zone.done(change, standing) {
			return nil
		}
	}
	switch {
	case r.Rcode == dns.RcodeYXDomain:
		return reject(change, "cannot stand beside what the name has")
	case r.Rcode == dns.RcodeYXRrset:
		return reject(change, "exist, or the name has a CNAME record")
	case len(change.Previous) > 0:
		return reject(change, "are others than previous_data says, or none")
	default:
		return reject(change, "do not exist")
	}
}

func reject(c records.Change, what string) error {
	return changes.Reject(fmt.Errorf("the %s records of %s %s", dns.TypeToString[c.Type], c.Name, what))
}

// standing reads the set that a change is about.
func (z Zone) standing(ctx context.Context, c records.Change) (records.Set, error) {
	q := question{c.Name, c.Type}
	found, err := z.stands(ctx, []question{q})
	return found[q].sets[c.Type], err
}

// done says whether what a change wants stands.
func (z Zone) done(c records.Change, standing records.Set) bool {
	if c.Action == gnomonv1.DnsRecordChange_DELETE {
		return len(standing) == 0
	}
	return standing.Equal(c.Data) && standing.HasTTL(z.ttl(c))
}
