package dnsrecord

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/miekg/dns"
	"golang.org/x/sync/errgroup"

	"gnomon/batch/records"
)

// maxReaders is how many connections read a zone at once.
const maxReaders = 8

// question asks for the records of one name and type; dns.TypeANY asks for all.
type question struct {
	name string
	kind uint16
}

// answer is what a zone's server says to a question.
type answer struct {
	// sets are those that stand at the name, or that a wildcard makes up for it.
	sets map[uint16]records.Set
	// elsewhere is the name above from which on other servers answer, or a DNAME
	// redirects; empty where this zone itself answers.
	elsewhere string
}

// read asks a zone's server all questions. Each is asked once.
func (z Zone) read(ctx context.Context, questions []question) (map[question]answer, error) {
	answers := make([]answer, len(questions))
	next := make(chan int)
	g, inner := errgroup.WithContext(ctx)
	for range min(maxReaders, len(questions)) {
		g.Go(func() error { return z.reader(inner, questions, answers, next) })
	}
	g.Go(func() error {
		defer close(next)
		for i := range questions {
			select {
			case next <- i:
			case <-inner.Done():
				return inner.Err()
			}
		}
		return nil
	})
	if err := g.Wait(); err != nil {
		return nil, err
	}
	found := make(map[question]answer, len(questions))
	for i, q := range questions {
		found[q] = answers[i]
	}
	return found, nil
}

// reader asks the questions that come, over one connection.
func (z Zone) reader(ctx context.Context, questions []question, answers []answer, next <-chan int) error {
	var c *conn
	for i := range next {
		if c == nil {
			var err error
			if c, err = dial(ctx, z); err != nil {
				return err
			}
			defer c.close()
		}
		var err error
		if answers[i], err = c.ask(ctx, questions[i]); err != nil {
			return err
		}
	}
	return nil
}

// ask asks one question.
func (c *conn) ask(ctx context.Context, q question) (answer, error) {
	r, err := c.query(ctx, q)
	if err != nil {
		return answer{}, err
	}
	if r.Rcode != dns.RcodeSuccess && r.Rcode != dns.RcodeNameError {
		return answer{}, fmt.Errorf("the server of zone %s answers %s to a query", c.zone.Name, rcode(r))
	}
	return understand(q, r), nil
}

// query sends a question; the answer may have any code.
func (c *conn) query(ctx context.Context, q question) (*dns.Msg, error) {
	m := new(dns.Msg).SetQuestion(q.name, q.kind)
	m.RecursionDesired = false
	if c.zone.Key.set() {
		c.zone.sign(m, time.Now(), queryFudge)
	}
	return c.exchange(ctx, m)
}

// understand sorts the records of an answer.
func understand(q question, r *dns.Msg) answer {
	a := answer{sets: map[uint16]records.Set{}}
	for _, rr := range r.Answer {
		h := rr.Header()
		switch {
		case h.Class != dns.ClassINET:
		case h.Rrtype == dns.TypeDNAME && dns.CanonicalName(h.Name) != q.name:
			a.elsewhere = dns.CanonicalName(h.Name)
		case dns.CanonicalName(h.Name) == q.name:
			a.sets[h.Rrtype] = append(a.sets[h.Rrtype], rr)
		}
	}
	if a.elsewhere != "" {
		a.sets = nil
	}
	if len(r.Answer) > 0 || r.Authoritative {
		return a
	}
	// A referral. The name servers of the delegation itself are this zone's to change.
	for _, rr := range r.Ns {
		if rr.Header().Rrtype != dns.TypeNS {
			continue
		}
		cut := dns.CanonicalName(rr.Header().Name)
		if cut == q.name {
			a.sets[dns.TypeNS] = append(a.sets[dns.TypeNS], rr)
		}
		a.elsewhere = cut
	}
	return a
}

// serves asks whether the zone's server has the zone with authority.
func (z Zone) serves(ctx context.Context) (bool, error) {
	c, err := dial(ctx, z)
	if err != nil {
		return false, err
	}
	defer c.close()
	r, err := c.query(ctx, question{z.Name, dns.TypeSOA})
	if err != nil {
		return false, err
	}
	if r.Rcode == dns.RcodeServerFailure {
		return false, fmt.Errorf("the server of zone %s answers %s to a query", z.Name, rcode(r))
	}
	return r.Authoritative && slices.ContainsFunc(r.Answer, func(rr dns.RR) bool {
		return rr.Header().Rrtype == dns.TypeSOA && dns.CanonicalName(rr.Header().Name) == z.Name
	}), nil
}
