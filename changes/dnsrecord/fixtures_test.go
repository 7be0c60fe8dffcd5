package dnsrecord_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/changes"
	"gnomon/changes/dnsrecord"
	"gnomon/changes/dnsrecord/bindtest"
)

func TestMain(m *testing.M) {
	// The goroutine of bindtest that starts processes stays.
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("gnomon/spawn.spawn"))
}

// zone is the zone of these tests.
const zone = "example.test"

// contents are what stands in it at first.
const contents = `
www    A     192.0.2.1
www    AAAA  2001:db8::1
alias  CNAME www
@      MX    10 mail
mail   A     192.0.2.25
old    TXT   "gone soon"
shop   A     192.0.2.7
_owner.shop TXT "owner=shop"
sub    NS    ns1.sub
ns1.sub A    192.0.2.53
*.wild A     192.0.2.99
x.wild A     192.0.2.99
deep.ent A   192.0.2.8
moved  DNAME elsewhere.test.
`

// bundle is a kind and the server whose zone it changes.
type bundle struct {
	*dnsrecord.Kind
	server *bindtest.Server
	zone   dnsrecord.Zone
}

func setup(t *testing.T, options ...func(*dnsrecord.Zone)) bundle {
	t.Helper()
	s := bindtest.Start(t, bindtest.Options{Zones: map[string]string{zone: contents}})
	return connect(t, s, options...)
}

// connect makes a kind for a server's zone.
func connect(t *testing.T, s *bindtest.Server, options ...func(*dnsrecord.Zone)) bundle {
	t.Helper()
	z := dnsrecord.Zone{
		Name: zone, Server: s.Address(),
		Key:       dnsrecord.Key{Name: bindtest.KeyName, Algorithm: s.Algorithm, Secret: s.Secret},
		TTL:       dnsrecord.TTLRange{Min: 60, Max: 86400},
		HighValue: []string{zone, "*.prod." + zone},
	}
	for _, o := range options {
		o(&z)
	}
	k, err := dnsrecord.New(dnsrecord.Config{Zones: []dnsrecord.Zone{z}})
	require.NoError(t, err)
	return bundle{Kind: k, server: s, zone: z}
}

// change is a change in words: "add www A 192.0.2.1", names relative to the zone. Of
// several records each is an argument of its own.
func change(t *testing.T, action, name, kind string, data ...string) *gnomonv1.DnsRecordChange {
	t.Helper()
	full := name + "." + zone
	if name == "@" {
		full = zone
	}
	c := &gnomonv1.DnsRecordChange{
		Action: gnomonv1.DnsRecordChange_Action(gnomonv1.DnsRecordChange_Action_value[action]),
		Name:   full,
		Type:   gnomonv1.DnsRecordChange_Type(gnomonv1.DnsRecordChange_Type_value[kind]),
		Data:   data,
	}
	require.NotZero(t, c.GetAction())
	require.NotZero(t, c.GetType())
	return c
}

// with sets more fields.
func with(c *gnomonv1.DnsRecordChange, set func(*gnomonv1.DnsRecordChange)) *gnomonv1.DnsRecordChange {
	set(c)
	return c
}

func subjects(all ...*gnomonv1.DnsRecordChange) []changes.Subject {
	var list []changes.Subject
	for i, c := range all {
		list = append(list, changes.Subject{Index: i, Change: &gnomonv1.Change{Change: &gnomonv1.Change_DnsRecord{DnsRecord: c}}})
	}
	return list
}

// problems are those that the kind finds, each as "index SEVERITY CODE field".
func (b bundle) problems(t *testing.T, all ...changes.Subject) []string {
	t.Helper()
	found, err := b.Validate(t.Context(), changes.Batch{ID: "b"}, all)
	require.NoError(t, err)
	list := []string{}
	for _, p := range found {
		list = append(list, fmt.Sprintf("%d %s %s %s", p.GetChangeIndex(), p.GetSeverity(), p.GetCode(), p.GetField()))
	}
	return list
}

// turn is one that begins now.
func turn() changes.Turn {
	now := time.Now()
	return changes.Turn{Key: "b/uid/0", Attempt: 1, Begun: now, Expires: now.Add(time.Minute)}
}

// resumed is a turn of a change whose application was begun before.
func resumed() changes.Turn {
	t := turn()
	t.Attempt, t.Resumed = 2, true
	return t
}

func (b bundle) apply(t *testing.T, c *gnomonv1.DnsRecordChange, at changes.Turn) error {
	t.Helper()
	return b.Apply(t.Context(), changes.Batch{ID: "b"}, subjects(c)[0], at)
}

func (b bundle) serial(t *testing.T) uint32 {
	t.Helper()
	return b.server.Serial(t, zone)
}
