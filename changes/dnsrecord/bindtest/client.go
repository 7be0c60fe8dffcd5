package bindtest

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"
	"github.com/stretchr/testify/require"
)

// Lookup asks the server for a record set and returns its records in presentation
// format, each as "TTL type data", sorted; none if there is none.
func (s *Server) Lookup(t *testing.T, name, kind string) []string {
	t.Helper()
	var found []string
	for _, rr := range s.query(t, name, dns.StringToType[kind]) {
		h := rr.Header()
		data := strings.TrimPrefix(rr.String(), h.String())
		found = append(found, fmt.Sprint(h.Ttl, " ", dns.TypeToString[h.Rrtype], " ", data))
	}
	slices.Sort(found)
	return found
}

// Serial is the zone's, which grows by one with each update that changes something.
func (s *Server) Serial(t *testing.T, zone string) uint32 {
	t.Helper()
	found := s.query(t, zone, dns.TypeSOA)
	require.Len(t, found, 1)
	soa, ok := found[0].(*dns.SOA)
	require.True(t, ok)
	return soa.Serial
}

func (s *Server) query(t *testing.T, name string, kind uint16) []dns.RR {
	t.Helper()
	m := new(dns.Msg).SetQuestion(dns.Fqdn(name), kind)
	r, _, err := (&dns.Client{Net: "tcp", Timeout: 10 * time.Second}).Exchange(m, s.Address())
	require.NoError(t, err)
	require.Contains(t, []int{dns.RcodeSuccess, dns.RcodeNameError}, r.Rcode, "%s", r)
	return slices.DeleteFunc(r.Answer, func(rr dns.RR) bool { return rr.Header().Rrtype != kind })
}

// NSUpdate runs Debian's nsupdate with the server's key on lines such as
// "update add www.example.test. 300 A 192.0.2.1": another client of the zone.
func (s *Server) NSUpdate(t *testing.T, lines ...string) {
	t.Helper()
	script := fmt.Sprintf("server 127.0.0.1 %s\n%s\nsend\n", s.Port, strings.Join(lines, "\n"))
	cmd := exec.CommandContext(t.Context(), "nsupdate", "-v", "-y", s.Algorithm+":"+KeyName+":"+s.Secret) //nolint:gosec // a test's own key
	cmd.Stdin = strings.NewReader(script)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s\n%s", script, out)
}

// Journal is every change of the zone since its first serial, in order, in the form
// of named-journalprint without the changes of the SOA: "add NAME TTL IN TYPE DATA"
// or "del ...".
func (s *Server) Journal(t *testing.T, zone string) []string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "named-journalprint", filepath.Join(s.Dir, zone+".zone.jnl")).Output() //nolint:gosec // a test's own file
	require.NoError(t, err)
	var changes []string
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		if len(fields) > 4 && fields[4] != "SOA" {
			changes = append(changes, strings.Join(fields, " "))
		}
	}
	return changes
}
