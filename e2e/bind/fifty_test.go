package bind

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/miekg/dns"
	"github.com/stretchr/testify/require"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/changes/dnsrecord/bindtest"
)

// samples are what records of each type say before and after.
var samples = []struct{ kind, old, fresh, more string }{
	{"A", "192.0.2.1", "192.0.2.2", "192.0.2.3"},
	{"AAAA", "2001:db8::1", "2001:db8::2", "2001:db8::3"},
	{"CNAME", "old.example.net.", "fresh.example.net.", ""},
	{"MX", "10 old.example.net.", "10 fresh.example.net.", "20 more.example.net."},
	{"TXT", `"old"`, `"fresh; and" "more"`, `"say \"more\""`},
	{"SRV", "1 2 5060 old.example.net.", "1 2 5060 fresh.example.net.", "2 2 5060 more.example.net."},
	{"PTR", "old.example.net.", "fresh.example.net.", "more.example.net."},
	{"CAA", `0 issue "old.example.net"`, `0 issue "fresh.example.net"`, `0 iodef "mailto:more@example.net"`},
	{"NS", "old.example.net.", "fresh.example.net.", "more.example.net."},
}

// fifty is a batch of fifty mixed changes of a zone, what stands in it before as text of a
// zone file, and what there is afterwards as lines of dig. The zone's own name servers
// are among them.
func fifty(t *testing.T, zone string) (changes []*gnomonv1.DnsRecordChange, before string, after []string) {
	t.Helper()
	stands := func(name, kind string, data ...string) {
		for _, one := range data {
			before += fmt.Sprintf("%s %s %s\n", name, kind, one)
		}
	}
	line := func(c *gnomonv1.DnsRecordChange, ttl int) {
		for _, one := range c.GetData() {
			after = append(after, fmt.Sprintf("%s. %d IN %s %s", c.GetName(), ttl, c.GetType(), one))
		}
	}
	do := func(c *gnomonv1.DnsRecordChange) {
		changes = append(changes, c)
		line(c, 300)
	}
	for _, s := range samples {
		name := func(what string) string { return what + "-" + strings.ToLower(s.kind) }
		two := slices.DeleteFunc([]string{s.fresh, s.more}, func(one string) bool { return one == "" })
		do(change(t, zone, "ADD", name("add"), s.kind, s.fresh))
		do(change(t, zone, "ADD", name("pair"), s.kind, two...))
		stands(name("update"), s.kind, s.old)
		do(change(t, zone, "UPDATE", name("update"), s.kind, s.fresh))
		stands(name("known"), s.kind, s.old)
		do(from(change(t, zone, "UPDATE", name("known"), s.kind, two...), s.old))
		stands(name("delete"), s.kind, s.old)
		do(change(t, zone, "DELETE", name("delete"), s.kind))
	}
	stands("gone", "A", "192.0.2.1", "192.0.2.2")
	do(from(change(t, zone, "DELETE", "gone", "A"), "192.0.2.2", "192.0.2.1"))
	// A CNAME makes place for an address, and the other way round.
	stands("swap", "CNAME", "old.example.net.")
	do(change(t, zone, "DELETE", "swap", "CNAME"))
	do(change(t, zone, "ADD", "swap", "A", "192.0.2.4"))
	do(change(t, zone, "UPDATE", "@", "NS", "ns1."+zone+".", "ns2.example.net."))
	minute := change(t, zone, "ADD", "minute", "TXT", `"short"`)
	minute.Ttl = 60
	changes = append(changes, minute)
	line(minute, 60)
	stands("bystander", "A", "192.0.2.9")
	after = append(after, "bystander."+zone+". 300 IN A 192.0.2.9", "ns1."+zone+". 300 IN A 127.0.0.1")
	slices.Sort(after)
	return changes, before, after
}

// dig runs Debian's dig against the server and gives the records it prints, sorted.
func dig(t *testing.T, server *bindtest.Server, args ...string) []string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "dig", append([]string{"@127.0.0.1", "-p", server.Port, "+noall", "+answer", "+authority", "+norecurse"}, args...)...)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	var all []string
	for text := range strings.Lines(string(out)) {
		fields := strings.Fields(text)
		if len(fields) > 4 && fields[3] != "SOA" && !strings.HasPrefix(text, ";") {
			all = append(all, strings.Join(fields, " "))
		}
	}
	slices.Sort(all)
	return all
}

// V-01, V-04, V-10: fifty mixed changes of all actions and types are accepted, wait, and
// are in the zone after their time, each as one update, and nothing else is.
func TestFiftyMixedChanges(t *testing.T) {
	t.Parallel()
	const zone = "fifty.test"
	all, before, after := fifty(t, zone)
	require.Len(t, all, 50)
	server := bindtest.Start(t, bindtest.Options{Zones: map[string]string{zone: before}})
	untouched := dig(t, server, zone, "AXFR")
	s := open(t, server, zone)
	s.work(t)
	var first atomic.Pointer[time.Time]
	s.proxy.Watch(bindtest.Watch{Asked: func(*dns.Msg) bool {
		now := time.Now()
		first.CompareAndSwap(nil, &now)
		return true
	}})

	due := time.Now().Add(4 * time.Second).Truncate(time.Microsecond)
	s.submit(t, "fifty", due, all...)
	b := s.reaches(t, "fifty", gnomonv1.BatchStatus_PENDING)
	require.EqualValues(t, 50, b.GetStatus().GetPendingChanges())
	if stands := dig(t, server, zone, "AXFR"); time.Now().Before(due) {
		require.Equal(t, untouched, stands, "nothing happens before its time")
	}
	b = s.reaches(t, "fifty", gnomonv1.BatchStatus_COMPLETE)
	require.False(t, first.Load().Before(due), "the first update is %s early", due.Sub(*first.Load()))
	t.Logf("the first update came %s after its time, the end %s", first.Load().Sub(due).Round(time.Millisecond),
		b.GetStatus().GetFinishTime().AsTime().Sub(due).Round(time.Millisecond))
	require.EqualValues(t, 50, b.GetStatus().GetCompleteChanges())
	require.EqualValues(t, 1, b.GetStatus().GetRound())

	require.Equal(t, after, dig(t, server, zone, "AXFR"))
	require.EqualValues(t, 51, server.Serial(t, zone))
	// The same by ordinary questions, as others ask them.
	for _, c := range all {
		var want []string
		for _, one := range after {
			if strings.HasPrefix(one, c.GetName()+". ") && strings.Contains(one, " IN "+c.GetType().String()+" ") {
				want = append(want, one)
			}
		}
		answer := slices.DeleteFunc(dig(t, server, c.GetName(), c.GetType().String()), func(one string) bool {
			return !strings.HasPrefix(one, c.GetName()+". ")
		})
		require.Equal(t, want, answer, "%v", c)
		require.Equal(t, c.GetAction() == gnomonv1.DnsRecordChange_DELETE, len(answer) == 0, "%v", c)
	}
}
