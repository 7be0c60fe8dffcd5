package dnsrecord

import (
	"context"
	"fmt"
	"time"

	"github.com/miekg/dns"

	"gnomon/batch/records"
)

// stands reads what stands at names, which is what is answered less what wildcards make
// up: a query for a name that does not exist is answered from *.<a name above>.
func (z Zone) stands(ctx context.Context, questions []question) (map[question]answer, error) {
	found, err := z.read(ctx, questions)
	if err != nil {
		return nil, err
	}
	wild, err := z.read(ctx, z.wildcards(questions, found))
	if err != nil {
		return nil, err
	}
	for _, q := range questions {
		if !z.madeUp(q, found[q], wild) {
			continue
		}
		exists, err := z.exists(ctx, q.name)
		if err != nil {
			return nil, err
		}
		if !exists {
			found[q] = answer{}
		}
	}
	return found, nil
}

// wildcards are the questions for the wildcards that may have made up answers.
func (z Zone) wildcards(questions []question, found map[question]answer) []question {
	var all []question
	seen := map[question]bool{}
	for _, q := range questions {
		if len(found[q].sets) == 0 {
			continue
		}
		for _, w := range z.above(q) {
			if !seen[w] {
				seen[w] = true
				all = append(all, w)
			}
		}
	}
	return all
}

// above are the questions for the wildcards within the zone that could match a name.
func (z Zone) above(q question) []question {
	var all []question
	for i, end := dns.NextLabel(q.name, 0); !end && dns.IsSubDomain(z.Name, q.name[i:]); i, end = dns.NextLabel(q.name, i) {
		if w := "*." + q.name[i:]; w != q.name {
			all = append(all, question{w, q.kind})
		}
	}
	return all
}

// madeUp says whether an answer is what a wildcard would have made up.
func (z Zone) madeUp(q question, a answer, wild map[question]answer) bool {
	for _, w := range z.above(q) {
		if same(a.sets, wild[w].sets) {
			return true
		}
	}
	return false
}

func same(a, b map[uint16]records.Set) bool {
	if len(a) == 0 || len(a) != len(b) {
		return false
	}
	for kind, set := range a {
		if !set.Equal(b[kind]) {
			return false
		}
	}
	return true
}

// exists asks whether a name has records of its own, by an update that has this as its
// prerequisite and changes nothing. Where there is no key for that, a name that is
// answered just as its wildcard counts as one that has none; the prerequisites of the
// change itself will judge again.
func (z Zone) exists(ctx context.Context, name string) (bool, error) {
	if !z.Key.set() {
		return false, nil
	}
	c, err := dial(ctx, z)
	if err != nil {
		return false, err
	}
	defer c.close()
	m := new(dns.Msg).SetUpdate(z.Name)
	m.NameUsed([]dns.RR{&dns.ANY{Hdr: dns.RR_Header{Name: name}}})
	z.sign(m, time.Now(), queryFudge)
	r, err := c.exchange(ctx, m)
	switch {
	case err != nil:
		return false, err
	case r.Rcode == dns.RcodeSuccess:
		return true, nil
	case r.Rcode == dns.RcodeNameError:
		return false, nil
	default:
		return false, fmt.Errorf("the server of zone %s answers %s to a question", z.Name, rcode(r))
	}
}
