package records_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/batch/records"
)

func add(name string, kind gnomonv1.DnsRecordChange_Type, data ...string) *gnomonv1.DnsRecordChange {
	return &gnomonv1.DnsRecordChange{Action: gnomonv1.DnsRecordChange_ADD, Name: name, Type: kind, Data: data}
}

const (
	typeA     = gnomonv1.DnsRecordChange_A
	typeAAAA  = gnomonv1.DnsRecordChange_AAAA
	typeCNAME = gnomonv1.DnsRecordChange_CNAME
	typeMX    = gnomonv1.DnsRecordChange_MX
	typeTXT   = gnomonv1.DnsRecordChange_TXT
	typeSRV   = gnomonv1.DnsRecordChange_SRV
	typePTR   = gnomonv1.DnsRecordChange_PTR
	typeCAA   = gnomonv1.DnsRecordChange_CAA
	typeNS    = gnomonv1.DnsRecordChange_NS
)

func TestEveryTypeIsUnderstood(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		change *gnomonv1.DnsRecordChange
		want   []string
	}{
		{add("WWW.Example.org", typeA, "192.0.2.1", "192.0.2.2"), []string{"192.0.2.1", "192.0.2.2"}},
		{add("*.example.org.", typeAAAA, "2001:DB8::1"), []string{"2001:db8::1"}},
		{add("_dmarc.example.org", typeCNAME, "Other.Example.NET"), []string{"other.example.net."}},
		{add("example.org", typeMX, "10 mail.example.org", "20 mail2.example.org."), []string{"10 mail.example.org.", "20 mail2.example.org."}},
		{add("example.org", typeMX, "0 ."), []string{"0 ."}},
		{add("example.org", typeTXT, `"v=DKIM1; k=rsa" "more"`, "word"), []string{`"v=DKIM1; k=rsa" "more"`, `"word"`}},
		{add("_sip._tcp.example.org", typeSRV, "1 2 5060 sip.example.org"), []string{"1 2 5060 sip.example.org."}},
		{add("1.2.0.192.in-addr.arpa", typePTR, "www.example.org"), []string{"www.example.org."}},
		{add("example.org", typeCAA, `0 issue "ca.example.net; policy=ev"`), []string{`0 issue "ca.example.net; policy=ev"`}},
		{add("sub.example.org", typeNS, "ns1.example.net"), []string{"ns1.example.net."}},
	} {
		parsed, problems := records.Parse(c.change)
		require.Empty(t, problems, "%v", c.change)
		require.Equal(t, c.want, parsed.Data.Data())
		require.Equal(t, strings.ToLower(strings.TrimSuffix(c.change.GetName(), "."))+".", parsed.Name)
	}
}

// V-03: bad data, and which field is to blame.
func TestWhatIsWrong(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 64)
	with := func(c *gnomonv1.DnsRecordChange, change func(*gnomonv1.DnsRecordChange)) *gnomonv1.DnsRecordChange {
		change(c)
		return c
	}
	for want, c := range map[string]*gnomonv1.DnsRecordChange{
		"REQUIRED dns_record.name":                            add("", typeA, "192.0.2.1"),
		"REQUIRED dns_record.type":                            add("a.test", 0, "192.0.2.1"),
		"UNSUPPORTED dns_record.type":                         add("a.test", 99, "192.0.2.1"),
		"REQUIRED dns_record.action":                          with(add("a.test", typeA, "192.0.2.1"), func(c *gnomonv1.DnsRecordChange) { c.Action = 0 }),
		"UNSUPPORTED dns_record.action":                       with(add("a.test", typeA, "192.0.2.1"), func(c *gnomonv1.DnsRecordChange) { c.Action = 9 }),
		"REQUIRED dns_record.data":                            add("a.test", typeA),
		"NOT_ALLOWED dns_record.data":                         with(add("a.test", typeA, "192.0.2.1"), func(c *gnomonv1.DnsRecordChange) { c.Action = gnomonv1.DnsRecordChange_DELETE }),
		"NOT_ALLOWED dns_record.previous_data":                with(add("a.test", typeA, "192.0.2.1"), func(c *gnomonv1.DnsRecordChange) { c.PreviousData = c.GetData() }),
		"NOT_ALLOWED dns_record.ttl":                          {Action: gnomonv1.DnsRecordChange_DELETE, Name: "a.test", Type: typeA, Ttl: 5},
		"OUT_OF_RANGE dns_record.ttl":                         with(add("a.test", typeA, "192.0.2.1"), func(c *gnomonv1.DnsRecordChange) { c.Ttl = 1 << 31 }),
		"TOO_LONG dns_record.owner":                           with(add("a.test", typeA, "192.0.2.1"), func(c *gnomonv1.DnsRecordChange) { c.Owner = long }),
		"INVALID_CHARACTER dns_record.owner":                  with(add("a.test", typeA, "192.0.2.1"), func(c *gnomonv1.DnsRecordChange) { c.Owner = "a b" }),
		"INVALID_NAME dns_record.zone":                        with(add("a.test", typeA, "192.0.2.1"), func(c *gnomonv1.DnsRecordChange) { c.Zone = "*.test" }),
		"NAME_OUTSIDE_ZONE dns_record.name":                   with(add("a.test", typeA, "192.0.2.1"), func(c *gnomonv1.DnsRecordChange) { c.Zone = "b.test" }),
		"TOO_MANY dns_record.data":                            add("a.test", typeA, make([]string, 101)...),
		"TOO_LONG dns_record.data":                            add("a.test", typeTXT, texts(20, 3000)...),
		"INVALID_NAME dns_record.name (label)":                add(long+".test", typeA, "192.0.2.1"),
		"INVALID_NAME dns_record.name (length)":               add(strings.Repeat("a.", 128)+"test", typeA, "192.0.2.1"),
		"INVALID_NAME dns_record.name (space)":                add("a b.test", typeA, "192.0.2.1"),
		"INVALID_NAME dns_record.name (line)":                 add("a.test\n$INCLUDE", typeA, "192.0.2.1"),
		"INVALID_NAME dns_record.name (wide)":                 add("ä.test", typeA, "192.0.2.1"),
		"INVALID_NAME dns_record.name (dots)":                 add("a..test", typeA, "192.0.2.1"),
		"INVALID_NAME dns_record.name (first dot)":            add(".a.test", typeA, "192.0.2.1"),
		"INVALID_NAME dns_record.name (star)":                 add("a.*.test", typeTXT, "x"),
		"INVALID_NAME dns_record.name (part star)":            add("a*.test", typeTXT, "x"),
		"INVALID_NAME dns_record.name (no host)":              add("_a.test", typeA, "192.0.2.1"),
		"INVALID_NAME dns_record.name (hyphen)":               add("-a.test", typeMX, "0 b.test"),
		"INVALID_DATA dns_record.data[0] (IPv6 in A)":         add("a.test", typeA, "2001:db8::1"),
		"INVALID_DATA dns_record.data[0] (IPv4 in AAAA)":      add("a.test", typeAAAA, "192.0.2.1"),
		"INVALID_DATA dns_record.data[0] (range)":             add("a.test", typeA, "192.0.2.256"),
		"INVALID_DATA dns_record.data[0] (two)":               add("a.test", typeA, "192.0.2.1 192.0.2.2"),
		"INVALID_DATA dns_record.data[0] (empty)":             add("a.test", typeA, " "),
		"INVALID_DATA dns_record.data[1] (second)":            add("a.test", typeA, "192.0.2.1", "x"),
		"INVALID_DATA dns_record.data[0] (lines)":             add("a.test", typeA, "192.0.2.1\nb.test. A 192.0.2.2"),
		"INVALID_DATA dns_record.data[0] (comment)":           add("a.test", typeTXT, "v=DKIM1; k=rsa"),
		"INVALID_DATA dns_record.data[0] (bracket)":           add("a.test", typeTXT, "(a"),
		"INVALID_DATA dns_record.data[0] (quote)":             add("a.test", typeTXT, `"a`),
		"INVALID_DATA dns_record.data[0] (escape)":            add("a.test", typeTXT, `a\`),
		"INVALID_DATA dns_record.data[0] (wide)":              add("a.test", typeTXT, `"ä"`),
		"INVALID_DATA dns_record.data[0] (generic)":           add("a.test", typeA, `\# 3 0a0000`),
		"INVALID_DATA dns_record.data[0] (MX address)":        add("a.test", typeMX, "10 192.0.2.1"),
		"INVALID_DATA dns_record.data[0] (MX preference)":     add("a.test", typeMX, "70000 b.test"),
		"INVALID_DATA dns_record.data[0] (no preference)":     add("a.test", typeMX, "b.test"),
		"INVALID_DATA dns_record.data[0] (null MX)":           add("a.test", typeMX, "10 ."),
		"INVALID_DATA dns_record.data (null MX, two)":         add("a.test", typeMX, "0 .", "10 b.test"),
		"INVALID_DATA dns_record.data[0] (NS address)":        add("a.test", typeNS, "192.0.2.1"),
		"INVALID_DATA dns_record.data[0] (NS underscore)":     add("a.test", typeNS, "_ns.test"),
		"INVALID_DATA dns_record.data[0] (NS root)":           add("a.test", typeNS, "."),
		"INVALID_DATA dns_record.data[0] (CNAME itself)":      add("a.test", typeCNAME, "A.test"),
		"INVALID_DATA dns_record.data (CNAME twice)":          add("a.test", typeCNAME, "b.test", "c.test"),
		"INVALID_DATA dns_record.data[0] (SRV)":               add("_s._tcp.test", typeSRV, "1 2 70000 b.test"),
		"INVALID_DATA dns_record.data[0] (PTR)":               add("1.2.0.192.in-addr.arpa", typePTR, "_a.test"),
		"INVALID_DATA dns_record.data[0] (CAA flag)":          add("a.test", typeCAA, `3 issue "ca.test"`),
		"INVALID_DATA dns_record.data[0] (CAA tag)":           add("a.test", typeCAA, `0 is-sue "ca.test"`),
		"DUPLICATE dns_record.data[1]":                        add("a.test", typeA, "192.0.2.1", "192.0.2.1"),
		"DUPLICATE dns_record.data[1] (another way to write)": add("a.test", typeTXT, "a", `"\097"`),
		"DUPLICATE dns_record.data[1] (case)":                 add("a.test", typeMX, "1 b.test", "1 B.TEST."),
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			want, _, _ := strings.Cut(want, " (")
			var got []string
			for _, p := range records.Check(c) {
				require.Equal(t, gnomonv1.Problem_HARD, p.GetSeverity())
				require.NotEmpty(t, p.GetMessage())
				got = append(got, fmt.Sprint(p.GetCode(), " ", p.GetField()))
			}
			require.Equal(t, []string{want}, got)
		})
	}
}

// texts are n different texts of a length.
func texts(n, length int) []string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf("%q", fmt.Sprint(i, strings.Repeat("x", length))))
	}
	return all
}

// All problems at once, also those of different fields.
func TestAllProblemsAtOnce(t *testing.T) {
	t.Parallel()
	require.Len(t, records.Check(&gnomonv1.DnsRecordChange{}), 4)
	require.Len(t, records.Check(add("a.test", typeA, "x", "y", "192.0.2.1")), 2)
}

// A set is the same in any order, case and way of writing.
func TestSetsAreEqual(t *testing.T) {
	t.Parallel()
	parse := func(data ...string) records.Set {
		c, problems := records.Parse(add("a.test", typeTXT, data...))
		require.Empty(t, problems)
		return c.Data
	}
	require.True(t, parse("a", "b").Equal(parse(`"b"`, `\097`)))
	require.False(t, parse("a", "b").Equal(parse("a")))
	require.False(t, parse("a", "b").Equal(parse("a", "B")))
	require.True(t, parse("a", "b", "c").Without(parse("b")).Equal(parse("c", "a")))
	require.True(t, parse("a").WithTTL(7).HasTTL(7))
	require.False(t, parse("a").HasTTL(7))
}

// No data, however hostile, makes the parser panic or say more than one record.
func FuzzParse(f *testing.F) {
	for _, data := range []string{"192.0.2.1", `"a" b`, "10 mail", "$INCLUDE /etc/passwd", "\\000", "1 2 3 x", `0 issue "x"`} {
		f.Add("a.test", data, int32(1))
	}
	f.Fuzz(func(t *testing.T, name, data string, kind int32) {
		c, problems := records.Parse(add(name, gnomonv1.DnsRecordChange_Type(kind), data))
		if len(problems) == 0 {
			require.Len(t, c.Data, 1)
			again, problems := records.Parse(add(c.Name, gnomonv1.DnsRecordChange_Type(kind), c.Data.Data()...))
			require.Empty(t, problems)
			require.True(t, c.Data.Equal(again.Data))
		}
	})
}
