package zonefile_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/batch/zonefile"
)

// text shows a change on one line.
func text(c *gnomonv1.DnsRecordChange) string {
	return strings.TrimSpace(fmt.Sprintf("%s %s %d %s %q was %q %s", c.GetAction(), c.GetName(), c.GetTtl(), c.GetType(), c.GetData(), c.GetPreviousData(), c.GetOwner()))
}

func parse(t *testing.T, file string) []string {
	t.Helper()
	all, err := zonefile.Parse("change.zone", strings.NewReader(file))
	require.NoError(t, err)
	var list []string
	for _, c := range all {
		list = append(list, text(c))
	}
	return list
}

func TestParse(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{
		`ADD www.example.org. 300 A ["192.0.2.1" "192.0.2.2"] was []`,
		`DELETE old.example.org. 0 TXT [] was []`,
		`DELETE old.example.org. 0 A [] was ["192.0.2.9"]`,
		`UPDATE api.example.org. 60 A ["192.0.2.4"] was ["192.0.2.3"] shop`,
		`UPDATE mail.example.org. 3600 MX ["10 mx.example.org." "20 mx.example.net."] was [] shop`,
		`ADD _sip._tcp.sub.example.org. 5400 SRV ["1 2 5060 sip.sub.example.org."] was [] shop`,
		`ADD sub.example.org. 300 TXT ["\"a; b\" \"c\""] was [] shop`,
		`UPDATE gone.example.org. 300 AAAA ["2001:db8::1"] was [] shop`,
		`ADD sub.example.org. 300 CAA ["0 issue \"ca.example.net\""] was [] shop`,
	}, parse(t, `
$ORIGIN example.org.
$TTL 300
+ www            A     192.0.2.1   ; one
- old            TXT
-old      IN     A     192.0.2.9
+	WWW.example.org.	IN	A	192.0.2.2
$OWNER shop
- api            A     192.0.2.3
+ api    60 IN   A     192.0.2.4
update mail IN 1h MX   10 mx
UPDATE mail 1h   MX    20 mx.example.net.
$ORIGIN sub
add _sip._tcp 1h30m IN SRV 1 2 5060 sip
+ @              TXT   "a; b" c ; comment
- gone.example.org. AAAA
+ gone.example.org. AAAA 2001:DB8::1
add @            CAA   0 issue "ca.example.net"
`))
}

// Without $TTL the installation's default holds.
func TestParseWithoutDirectives(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{`ADD www.example.org. 0 A ["192.0.2.1"] was []`}, parse(t, "\r\n+ www.example.org. A 192.0.2.1\r\n"))
}

// Every mistake is named with its line, all of them at once.
func TestParseSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	for want, file := range map[string]string{
		"change.zone:1: the file has no change":                                            "; nothing\n",
		"change.zone:1: a line begins with +, -, add":                                      "www A 192.0.2.1",
		"change.zone:2: a line begins with +, -, add":                                      "\naddition www A 192.0.2.1",
		"change.zone:1: a record is: name":                                                 "+ www",
		"change.zone:1: a record is: name [time":                                           "+ www 300 IN",
		"change.zone:1: a record is: name [time to":                                        "+",
		`change.zone:1: records of type "SOA" cannot be changed`:                           "+ www.example.org. SOA x",
		`change.zone:1: records of type "192.0.2.1" cannot be changed`:                     "+ www.example.org. 192.0.2.1",
		"change.zone:1: the record's data is missing":                                      "+ www.example.org. A",
		"change.zone:1: the name is relative and there is no $ORIGIN":                      "- www A",
		"$ORIGIN must say to what":                                                         "+ www A 192.0.2.1",
		"change.zone:1: bad A A":                                                           "+ www.example.org. A 192.0.2.256",
		"change.zone:1: $ORIGIN takes one value":                                           "$ORIGIN",
		"change.zone:1: $ORIGIN takes a domain name":                                       "$ORIGIN a..b.",
		"change.zone:1: $TTL takes seconds":                                                "$TTL soon",
		"change.zone:1: $INCLUDE is not known here":                                        "$INCLUDE /etc/passwd",
		"change.zone:1: $GENERATE takes one value":                                         "$GENERATE 1-9 a A 192.0.2.$",
		"change.zone:2: the records of a set have one time to live, which is 60 in line 1": "+ a.test. 60 A 192.0.2.1\n+ a.test. 61 A 192.0.2.2",
		"change.zone:1: a time to live of 0":                                               "+ a.test. 0 A 192.0.2.1",
		"change.zone:2: line 1 says something else about this set":                         "+ a.test. A 192.0.2.1\nupdate a.test. A 192.0.2.2",
		"change.zone:2: line 1 updates this set":                                           "update a.test. A 192.0.2.1\n- a.test. A 192.0.2.2",
		"change.zone:1: the set is deleted both":                                           "- a.test. A\n- a.test. A 192.0.2.2",
		"change.zone:1: the record is there twice":                                         "+ a.test. A 192.0.2.1\n+ a.test. A 192.0.2.1",
		"change.zone:1: a name has at most one CNAME record":                               "+ a.test. CNAME b.test.\n+ a.test. CNAME c.test.",
		"change.zone:1: bad A A: \"192.0.2.1x\"\nchange.zone:3: a line begins":             "+ a.test. A 192.0.2.1x\n+ b.test. A 192.0.2.1\nwhat",
		"change.zone:1: records of this type belong to hosts":                              "+ _a.test. A 192.0.2.1",
		"change.zone:1: bufio.Scanner: token too long":                                     "+ a.test. TXT " + strings.Repeat("x", 300<<10),
		"change.zone:2: owner is 64 bytes long, at most 63 are allowed":                    "$OWNER " + strings.Repeat("x", 64) + "\n- a.test. A",
	} {
		all, err := zonefile.Parse("change.zone", strings.NewReader(file))
		require.ErrorContains(t, err, want, file)
		require.Nil(t, all)
	}
}

// No file, however hostile, makes the parser panic or read another file.
func FuzzParse(f *testing.F) {
	f.Add("$ORIGIN example.org.\n$TTL 1h\n+ www A 192.0.2.1\n- www A\nupdate x TXT \"a\"")
	f.Add("+ a.test. TXT ( a\n b )")
	f.Add("+ a.test. A 192.0.2.1\n$INCLUDE " + os.DevNull)
	f.Fuzz(func(t *testing.T, file string) {
		all, err := zonefile.Parse("f", strings.NewReader(file))
		if err == nil {
			require.NotEmpty(t, all)
		}
	})
}

// The file in docs/batches.md is one.
func TestTheDocumentedFile(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/batches.md")
	require.NoError(t, err)
	_, block, found := strings.Cut(string(page), "```text\n$ORIGIN")
	require.True(t, found)
	block, _, _ = strings.Cut(block, "```")
	require.Len(t, parse(t, "$ORIGIN"+block), 5)
}
