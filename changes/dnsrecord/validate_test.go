package dnsrecord_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/changes"
	"gnomon/changes/dnsrecord"
	"gnomon/changes/dnsrecord/bindtest"
)

// V-03, V-07: what stands in the zone, seen by real queries.
func TestValidateAgainstTheZone(t *testing.T) {
	t.Parallel()
	b := setup(t)
	previous := func(c *gnomonv1.DnsRecordChange, data ...string) *gnomonv1.DnsRecordChange {
		c.PreviousData = data
		return c
	}
	inZone := func(c *gnomonv1.DnsRecordChange, name string) *gnomonv1.DnsRecordChange {
		c.Zone = name
		return c
	}
	ttl := func(c *gnomonv1.DnsRecordChange, seconds uint32) *gnomonv1.DnsRecordChange {
		c.Ttl = seconds
		return c
	}
	owner := func(c *gnomonv1.DnsRecordChange, label string) *gnomonv1.DnsRecordChange {
		c.Owner = label
		return c
	}
	for name, c := range map[string]struct {
		change *gnomonv1.DnsRecordChange
		want   string
	}{
		"new":                       {change(t, "ADD", "new", "A", "192.0.2.9"), ""},
		"another type":              {change(t, "ADD", "www", "TXT", "x"), ""},
		"name in between":           {change(t, "ADD", "ent", "CNAME", "www.example.test"), ""},
		"default TTL":               {ttl(change(t, "ADD", "new", "A", "192.0.2.9"), 0), ""},
		"exists":                    {change(t, "ADD", "www", "A", "192.0.2.9"), "HARD RECORD_EXISTS dns_record.name"},
		"CNAME exists":              {change(t, "ADD", "alias", "CNAME", "mail.example.test"), "HARD RECORD_EXISTS dns_record.name"},
		"beside a CNAME":            {change(t, "ADD", "alias", "TXT", "x"), "HARD CNAME_CONFLICT dns_record.name"},
		"CNAME beside others":       {change(t, "ADD", "www", "CNAME", "mail.example.test"), "HARD CNAME_CONFLICT dns_record.name"},
		"update":                    {change(t, "UPDATE", "www", "A", "192.0.2.9"), ""},
		"update a CNAME":            {change(t, "UPDATE", "alias", "CNAME", "mail.example.test"), ""},
		"update nothing":            {change(t, "UPDATE", "new", "A", "192.0.2.9"), "HARD RECORD_MISSING dns_record.name"},
		"update another type":       {change(t, "UPDATE", "www", "TXT", "x"), "HARD RECORD_MISSING dns_record.name"},
		"update at a CNAME":         {change(t, "UPDATE", "alias", "A", "192.0.2.9"), "HARD RECORD_MISSING dns_record.name"},
		"update as expected":        {previous(change(t, "UPDATE", "www", "A", "192.0.2.9"), "192.0.2.1"), ""},
		"update of others":          {previous(change(t, "UPDATE", "www", "A", "192.0.2.9"), "192.0.2.2"), "HARD RECORD_DIFFERS dns_record.previous_data"},
		"delete":                    {change(t, "DELETE", "old", "TXT"), ""},
		"delete nothing":            {change(t, "DELETE", "new", "TXT"), "HARD RECORD_MISSING dns_record.name"},
		"delete as expected":        {previous(change(t, "DELETE", "old", "TXT"), `"gone soon"`), ""},
		"delete of others":          {previous(change(t, "DELETE", "old", "TXT"), `"gone"`), "HARD RECORD_DIFFERS dns_record.previous_data"},
		"delegation":                {change(t, "UPDATE", "sub", "NS", "ns.example.net"), ""},
		"new delegation":            {change(t, "ADD", "sub2", "NS", "ns.example.net"), ""},
		"at a delegation":           {change(t, "ADD", "sub", "TXT", "x"), "HARD NAME_OUTSIDE_ZONE dns_record.name"},
		"below a delegation":        {change(t, "ADD", "a.sub", "A", "192.0.2.9"), "HARD NAME_OUTSIDE_ZONE dns_record.name"},
		"below a DNAME":             {change(t, "ADD", "a.moved", "A", "192.0.2.9"), "HARD NAME_OUTSIDE_ZONE dns_record.name"},
		"outside the zone":          {inZone(change(t, "ADD", "a", "A", "192.0.2.9"), "example.org"), "HARD NAME_OUTSIDE_ZONE dns_record.name"},
		"zone that is not served":   {inZone(change(t, "ADD", "a", "A", "192.0.2.9"), "test"), "HARD ZONE_NOT_SERVED dns_record.zone"},
		"no zone for it":            {with(change(t, "ADD", "a", "A", "192.0.2.9"), func(c *gnomonv1.DnsRecordChange) { c.Name = "a.example.org" }), "HARD ZONE_NOT_SERVED dns_record.name"},
		"bad data":                  {change(t, "ADD", "a", "A", "192.0.2.256"), "HARD INVALID_DATA dns_record.data[0]"},
		"TTL too short":             {ttl(change(t, "ADD", "a", "A", "192.0.2.9"), 59), "SOFT TTL_OUT_OF_RANGE dns_record.ttl"},
		"TTL too long":              {ttl(change(t, "UPDATE", "www", "A", "192.0.2.9"), 86401), "SOFT TTL_OUT_OF_RANGE dns_record.ttl"},
		"TTL at the edge":           {ttl(change(t, "ADD", "a", "A", "192.0.2.9"), 60), ""},
		"the apex":                  {change(t, "ADD", "@", "TXT", "x"), "SOFT HIGH_VALUE_NAME dns_record.name"},
		"high value":                {change(t, "ADD", "db.prod", "TXT", "x"), "SOFT HIGH_VALUE_NAME dns_record.name"},
		"beside high value":         {change(t, "ADD", "prod", "TXT", "x"), ""},
		"another's":                 {change(t, "UPDATE", "shop", "A", "192.0.2.9"), "SOFT OWNED_BY_ANOTHER dns_record.owner"},
		"another's, says it":        {owner(change(t, "UPDATE", "shop", "A", "192.0.2.9"), "mail"), "SOFT OWNED_BY_ANOTHER dns_record.owner"},
		"its own":                   {owner(change(t, "UPDATE", "shop", "A", "192.0.2.9"), "shop"), ""},
		"another's mark":            {change(t, "DELETE", "_owner.shop", "TXT"), "SOFT OWNED_BY_ANOTHER dns_record.owner"},
		"nobody's":                  {owner(change(t, "UPDATE", "www", "A", "192.0.2.9"), "shop"), ""},
		"only a wildcard is there":  {change(t, "ADD", "a.wild", "A", "192.0.2.9"), ""},
		"CNAME, only a wildcard":    {change(t, "ADD", "a.wild", "CNAME", "www.example.test"), ""},
		"no more than a wildcard":   {change(t, "UPDATE", "a.wild", "A", "192.0.2.9"), "HARD RECORD_MISSING dns_record.name"},
		"exists, as its wildcard":   {change(t, "ADD", "x.wild", "A", "192.0.2.9"), "HARD RECORD_EXISTS dns_record.name"},
		"update, as its wildcard":   {change(t, "UPDATE", "x.wild", "A", "192.0.2.9"), ""},
		"the wildcard itself":       {change(t, "UPDATE", "*.wild", "A", "192.0.2.9"), ""},
		"the zone's name servers":   {change(t, "DELETE", "ns1", "NS"), "HARD RECORD_MISSING dns_record.name"},
		"what makes the zone whole": {change(t, "DELETE", "@", "NS"), "HARD ZONE_NAME_SERVERS dns_record.name"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := b.problems(t, subjects(c.change)...)
			if c.want == "" {
				require.Empty(t, got)
				return
			}
			require.Contains(t, got, "0 "+c.want)
		})
	}
	t.Cleanup(func() { require.EqualValues(t, 1, b.serial(t), "validating changes nothing") })
}

// V-03: changes of one batch are judged against those before them, and all problems of
// all of them come at once.
func TestValidateWithinTheBatch(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for name, c := range map[string]struct {
		all  []*gnomonv1.DnsRecordChange
		want []string
	}{
		"alias becomes a host": {[]*gnomonv1.DnsRecordChange{
			change(t, "DELETE", "alias", "CNAME"), change(t, "ADD", "alias", "A", "192.0.2.9"), change(t, "ADD", "alias", "TXT", "x"),
		}, []string{}},
		"host becomes an alias": {[]*gnomonv1.DnsRecordChange{
			change(t, "DELETE", "www", "A"), change(t, "DELETE", "www", "AAAA"), change(t, "ADD", "www", "CNAME", "mail.example.test"),
		}, []string{}},
		"half a host becomes an alias": {[]*gnomonv1.DnsRecordChange{
			change(t, "DELETE", "www", "A"), change(t, "ADD", "www", "CNAME", "mail.example.test"),
		}, []string{"1 HARD CNAME_CONFLICT dns_record.name"}},
		"in the wrong order": {[]*gnomonv1.DnsRecordChange{
			change(t, "ADD", "alias", "A", "192.0.2.9"), change(t, "DELETE", "alias", "CNAME"),
		}, []string{"0 HARD CNAME_CONFLICT dns_record.name"}},
		"CNAME, then another": {[]*gnomonv1.DnsRecordChange{
			change(t, "ADD", "new", "CNAME", "www.example.test"), change(t, "ADD", "new", "A", "192.0.2.9"),
		}, []string{"1 HARD CNAME_CONFLICT dns_record.name"}},
		"another, then a CNAME": {[]*gnomonv1.DnsRecordChange{
			change(t, "ADD", "new", "A", "192.0.2.9"), change(t, "ADD", "new", "CNAME", "www.example.test"),
		}, []string{"1 HARD CNAME_CONFLICT dns_record.name"}},
		"twice, in two ways to write it": {[]*gnomonv1.DnsRecordChange{
			change(t, "ADD", "new", "A", "192.0.2.9"), change(t, "ADD", "NEW", "A", "192.0.2.10"),
		}, []string{"1 HARD DUPLICATE_CHANGE dns_record.name"}},
		"deleted and added": {[]*gnomonv1.DnsRecordChange{
			change(t, "DELETE", "www", "A"), change(t, "ADD", "www", "A", "192.0.2.10"),
		}, []string{"1 HARD DUPLICATE_CHANGE dns_record.name"}},
		"claimed and changed": {[]*gnomonv1.DnsRecordChange{
			change(t, "ADD", "_owner.www", "TXT", "owner=web"), change(t, "UPDATE", "www", "A", "192.0.2.10"),
		}, []string{"1 SOFT OWNED_BY_ANOTHER dns_record.owner"}},
		"everything at once": {[]*gnomonv1.DnsRecordChange{
			change(t, "ADD", "www", "A", "192.0.2.9"),
			change(t, "ADD", "fine", "A", "192.0.2.9"),
			change(t, "ADD", "bad", "A", "x", "y"),
			with(change(t, "UPDATE", "shop", "A", "192.0.2.9"), func(c *gnomonv1.DnsRecordChange) { c.Ttl = 1 }),
			change(t, "DELETE", "none", "TXT"),
		}, []string{
			"0 HARD RECORD_EXISTS dns_record.name",
			"2 HARD INVALID_DATA dns_record.data[0]", "2 HARD INVALID_DATA dns_record.data[1]",
			"3 SOFT TTL_OUT_OF_RANGE dns_record.ttl", "3 SOFT OWNED_BY_ANOTHER dns_record.owner",
			"4 HARD RECORD_MISSING dns_record.name",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, b.problems(t, subjects(c.all...)...))
		})
	}
}

// V-16: what a change that was begun has done itself, or not yet, is no problem, and
// the changes after it are judged as if it was done.
func TestValidateChangesInDoubt(t *testing.T) {
	t.Parallel()
	b := setup(t)
	all := subjects(
		change(t, "ADD", "www", "A", "192.0.2.1"),   // done: stands already
		change(t, "DELETE", "gone", "A"),            // done: gone already
		change(t, "DELETE", "alias", "CNAME"),       // not done yet
		change(t, "ADD", "alias", "A", "192.0.2.9"), // not begun
	)
	require.Equal(t, []string{
		"0 HARD RECORD_EXISTS dns_record.name", "1 HARD RECORD_MISSING dns_record.name",
	}, b.problems(t, all...))
	for i := range 3 {
		all[i].InDoubt = true
	}
	require.Empty(t, b.problems(t, all...))
}

// V-09, V-16: a change that was begun and has not happened, in a zone that another client
// has changed meanwhile, is a problem like any other, and so is one whose records another
// client has changed after it.
func TestValidateChangesInDoubtThatCannotBeDoneAnyMore(t *testing.T) {
	t.Parallel()
	b := setup(t)
	all := subjects(
		change(t, "ADD", "www", "A", "192.0.2.9"),
		change(t, "UPDATE", "gone", "A", "192.0.2.9"),
		with(change(t, "UPDATE", "mail", "A", "192.0.2.9"), func(c *gnomonv1.DnsRecordChange) { c.PreviousData = []string{"192.0.2.77"} }),
		with(change(t, "DELETE", "old", "TXT"), func(c *gnomonv1.DnsRecordChange) { c.PreviousData = []string{"other"} }),
		with(change(t, "ADD", "www", "AAAA", "2001:db8::1"), func(c *gnomonv1.DnsRecordChange) { c.Ttl = 77 }),
		change(t, "UPDATE", "shop", "A", "192.0.2.9"),
	)
	for i := range all {
		all[i].InDoubt = true
	}
	require.Equal(t, []string{
		"0 HARD RECORD_EXISTS dns_record.name", "1 HARD RECORD_MISSING dns_record.name",
		"2 HARD RECORD_DIFFERS dns_record.previous_data", "3 HARD RECORD_DIFFERS dns_record.previous_data",
		"4 HARD RECORD_EXISTS dns_record.name", "5 SOFT OWNED_BY_ANOTHER dns_record.owner",
	}, b.problems(t, all...))
}

// A zone that its server does not have is a problem; a server that does not answer is
// none, since nothing can be said.
func TestValidateWithoutTheServersHelp(t *testing.T) {
	t.Parallel()
	b := setup(t, func(z *dnsrecord.Zone) { z.Timeout = 500 * time.Millisecond })
	c := subjects(change(t, "ADD", "new", "A", "192.0.2.9"))

	other := connect(t, b.server, func(z *dnsrecord.Zone) { z.Name = "test" })
	require.Equal(t, []string{"0 HARD ZONE_NOT_SERVED dns_record.name"}, other.problems(t, c...))

	wrong := connect(t, b.server, func(z *dnsrecord.Zone) { z.Key.Secret = "d3Jvbmc=" })
	_, err := wrong.Validate(t.Context(), changes.Batch{}, c)
	require.ErrorContains(t, err, "zone example.test.")
	require.NotContains(t, err.Error(), "d3Jvbmc")

	b.server.Freeze(t)
	_, err = b.Validate(t.Context(), changes.Batch{}, c)
	require.ErrorContains(t, err, "the server of zone example.test. does not answer")
	b.server.Stop()
	_, err = b.Validate(t.Context(), changes.Batch{}, c)
	require.ErrorContains(t, err, "the server of zone example.test. cannot be reached")
}

// A process that has no key, such as a facade, validates all the same.
func TestValidateWithoutAKey(t *testing.T) {
	t.Parallel()
	b := setup(t, func(z *dnsrecord.Zone) { z.Key = dnsrecord.Key{} })
	require.Empty(t, b.problems(t, subjects(change(t, "ADD", "new", "A", "192.0.2.9"), change(t, "ADD", "a.wild", "A", "192.0.2.9"))...))
	require.Equal(t, []string{"0 HARD RECORD_EXISTS dns_record.name"}, b.problems(t, subjects(change(t, "ADD", "www", "A", "192.0.2.9"))...))
	require.ErrorContains(t, b.apply(t, change(t, "ADD", "new", "A", "192.0.2.9"), turn()), "no key")
}

// IPv6 and every algorithm.
func TestOtherKeysAndAddresses(t *testing.T) {
	t.Parallel()
	for _, algorithm := range []string{"hmac-sha1", "hmac-sha224", "hmac-sha384", "hmac-sha512"} {
		t.Run(algorithm, func(t *testing.T) {
			t.Parallel()
			s := bindtest.Start(t, bindtest.Options{Algorithm: algorithm})
			b := connect(t, s, func(z *dnsrecord.Zone) { z.Server = s.Address6() })
			c := change(t, "ADD", "new", "AAAA", "2001:db8::9")
			require.Empty(t, b.problems(t, subjects(c)...))
			require.NoError(t, b.apply(t, c, turn()))
			require.Equal(t, []string{"300 AAAA 2001:db8::9"}, s.Lookup(t, "new."+zone, "AAAA"))
		})
	}
}
