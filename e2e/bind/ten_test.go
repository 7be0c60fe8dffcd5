package bind

import (
	"fmt"
	"testing"

	"github.com/miekg/dns"
	"github.com/stretchr/testify/require"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/changes/dnsrecord/bindtest"
)

// standing is what a zone has before the batch of ten.
const standing = `
u2 TXT "old"
d3 MX  10 mail.example.net.
u5 A   192.0.2.5
d8 TXT "gone soon"
`

// step is one of the ten changes and what BIND's journal says of it.
type step struct {
	change  *gnomonv1.DnsRecordChange
	journal []string
}

// spoiled is the change of the ten that another client's record can spoil.
const spoiled = 7

// ten is a batch of ten mixed changes of a zone that has standing, each at a name of its
// own.
func ten(t *testing.T, zone string) []step {
	t.Helper()
	of := func(c *gnomonv1.DnsRecordChange, journal ...string) step {
		s := step{change: c}
		for _, line := range journal {
			var how, name, rest string
			_, err := fmt.Sscanf(line, "%s %s", &how, &name)
			require.NoError(t, err)
			rest = line[len(how)+len(name)+2:]
			s.journal = append(s.journal, how+" "+dns.Fqdn(change(t, zone, "ADD", name, "A").GetName())+" 300 IN "+rest)
		}
		return s
	}
	return []step{
		of(change(t, zone, "ADD", "a0", "A", "192.0.2.10"), "add a0 A 192.0.2.10"),
		of(change(t, zone, "ADD", "p1", "PTR", "a0."+zone), "add p1 PTR a0."+zone+"."),
		of(change(t, zone, "UPDATE", "u2", "TXT", "new"), `del u2 TXT "old"`, `add u2 TXT "new"`),
		of(change(t, zone, "DELETE", "d3", "MX"), "del d3 MX 10 mail.example.net."),
		of(change(t, zone, "ADD", "c4", "CNAME", "a0."+zone), "add c4 CNAME a0."+zone+"."),
		of(from(change(t, zone, "UPDATE", "u5", "A", "192.0.2.55"), "192.0.2.5"), "del u5 A 192.0.2.5", "add u5 A 192.0.2.55"),
		of(change(t, zone, "ADD", "s6", "SRV", "1 2 5060 sip.example.net"), "add s6 SRV 1 2 5060 sip.example.net."),
		of(change(t, zone, "ADD", "k7", "CAA", `0 issue "ca.example.net"`), `add k7 CAA 0 issue "ca.example.net"`),
		of(from(change(t, zone, "DELETE", "d8", "TXT"), `"gone soon"`), `del d8 TXT "gone soon"`),
		of(change(t, zone, "UPDATE", "@", "NS", "ns1."+zone, "ns2.example.net"), "add @ NS ns2.example.net."),
	}
}

// changesOf are the changes of steps.
func changesOf(steps []step) []*gnomonv1.DnsRecordChange {
	var all []*gnomonv1.DnsRecordChange
	for _, s := range steps {
		all = append(all, s.change)
	}
	return all
}

// indexOf is which of the steps an update is about, -1 if none.
func indexOf(steps []step, update *dns.Msg) int {
	for i, s := range steps {
		if dns.CanonicalName(update.Ns[0].Header().Name) == dns.CanonicalName(s.change.GetName()) {
			return i
		}
	}
	return -1
}

// judge has BIND's journal say that each step was done once, in order, and nothing else;
// and the statuses, that gnomon knows.
func judge(t *testing.T, server *bindtest.Server, zone string, steps []step, b *gnomonv1.Batch) {
	t.Helper()
	var want []string
	for i, s := range steps {
		want = append(want, s.journal...)
		require.Equal(t, gnomonv1.ChangeStatus_COMPLETE, b.GetChanges()[i].GetStatus().GetState(), "change %d", i)
	}
	require.Equal(t, want, server.Journal(t, zone))
	require.EqualValues(t, 1+len(steps), server.Serial(t, zone), "each change is one update")
	require.EqualValues(t, len(steps), b.GetStatus().GetCompleteChanges())
	require.Zero(t, b.GetStatus().GetFailedChanges())
	require.Zero(t, b.GetStatus().GetPendingChanges())
}
