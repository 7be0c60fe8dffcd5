package bindtest

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"
	"github.com/stretchr/testify/require"

	"gnomon/faults/processes"
)

// KeyName is the name of every server's key.
const KeyName = "gnomon-key."

// startWithin bounds the start of named on a machine that is busy.
const startWithin = 60 * time.Second

// Options choose what a server serves.
type Options struct {
	// Zones are the names of the zones with their first records as text of a zone
	// file; SOA (serial 1), an apex NS and that server's address are added. Default:
	// example.test without more.
	Zones map[string]string
	// Algorithm is the key's. Default hmac-sha256.
	Algorithm string
	// Policy replaces `allow-update` of the key by these lines of an update-policy.
	Policy string
}

// Server is one named. Its address stays the same over Stop and Start.
type Server struct {
	// Dir has its configuration, zone files and journals.
	Dir string
	// Port is that of UDP and TCP on 127.0.0.1 and, where there is one, ::1.
	Port string
	// Algorithm and Secret (base64) are those of the key KeyName.
	Algorithm, Secret string

	named *processes.Process
	past  string // what processes before this one wrote
}

// Start starts a server that ends with the test.
func Start(t *testing.T, o Options) *Server {
	t.Helper()
	programs(t, "named", "nsupdate", "named-journalprint")
	if o.Algorithm == "" {
		o.Algorithm = "hmac-sha256"
	}
	if o.Zones == nil {
		o.Zones = map[string]string{"example.test": ""}
	}
	s := &Server{Dir: directory(t), Port: freePort(t), Algorithm: o.Algorithm, Secret: secret(t)}
	s.configure(t, o)
	s.Start(t)
	t.Cleanup(s.Stop)
	return s
}

// programs skips the test where a program is missing, and fails it in CI.
func programs(t *testing.T, names ...string) {
	t.Helper()
	for _, p := range names {
		if _, err := exec.LookPath(p); err != nil {
			if os.Getenv("CI") != "" {
				t.Fatalf("%s is missing, and CI must have it (bind9, bind9-dnsutils)", p)
			}
			t.Skipf("%s is missing (Debian: bind9, bind9-dnsutils)", p)
		}
	}
}

// directory is one that named may use, whoever it runs as.
func directory(t *testing.T) string {
	t.Helper()
	above := os.TempDir()
	if os.Geteuid() == 0 && !passable(above) {
		above = "/tmp"
	}
	dir, err := os.MkdirTemp(above, "gnomon-bind-") //nolint:usetesting // only this user may enter what is below t.TempDir()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	if os.Geteuid() == 0 {
		require.NoError(t, os.Chown(dir, nobody, nobody))
	}
	return dir
}

// passable says whether everybody may enter a directory and all above it.
func passable(dir string) bool {
	for ; ; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		if err != nil || info.Mode().Perm()&1 == 0 {
			return false
		}
		if dir == filepath.Dir(dir) {
			return true
		}
	}
}

// freePort finds a port that is free for UDP and TCP on both loopback addresses.
func freePort(t *testing.T) string {
	t.Helper()
	for range 100 {
		l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // nothing to wait for
		require.NoError(t, err)
		_, port, err := net.SplitHostPort(l.Addr().String())
		require.NoError(t, err)
		u, err := net.ListenPacket("udp", net.JoinHostPort("127.0.0.1", port)) //nolint:noctx // nothing to wait for
		require.NoError(t, l.Close())
		if err == nil {
			require.NoError(t, u.Close())
			return port
		}
	}
	t.Fatal("no port is free for both UDP and TCP")
	return ""
}

func secret(t *testing.T) string {
	t.Helper()
	b := make([]byte, 64)
	_, err := rand.Read(b)
	require.NoError(t, err)
	return base64.StdEncoding.EncodeToString(b)
}

// configure writes named.conf and the zone files.
func (s *Server) configure(t *testing.T, o Options) {
	t.Helper()
	var c strings.Builder
	fmt.Fprintf(&c, `options {
	directory %q; managed-keys-directory %q;
	pid-file none; session-keyfile none; lock-file none;
	listen-on port %s { 127.0.0.1; }; listen-on-v6 port %s { ::1; };
	recursion no; dnssec-validation no; empty-zones-enable no; notify no; minimal-responses yes;
};
controls { };
key %q { algorithm %s; secret %q; };
`, s.Dir, s.Dir, s.Port, s.Port, KeyName, s.Algorithm, s.Secret)
	for zone, records := range o.Zones {
		rights := fmt.Sprintf("allow-update { key %q; };", KeyName)
		if o.Policy != "" {
			rights = "update-policy { " + o.Policy + " };"
		}
		fmt.Fprintf(&c, "zone %q { type primary; file %q; %s };\n", zone, zone+".zone", rights)
		s.write(t, zone+".zone", fmt.Sprintf(`$ORIGIN %s
$TTL 300
@ IN SOA ns1 hostmaster 1 3600 600 86400 60
ns1 IN A 127.0.0.1
@ IN NS ns1
%s
`, dns.Fqdn(zone), records))
	}
	s.write(t, "named.conf", c.String())
}

func (s *Server) write(t *testing.T, name, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(s.Dir, name), []byte(text), 0o644)) //nolint:gosec // nobody reads it
}

// Start starts named, again after a Stop or Kill, and waits until it answers.
func (s *Server) Start(t *testing.T) {
	t.Helper()
	cmd := exec.Command("named", "-g", "-n", "1", "-c", filepath.Join(s.Dir, "named.conf")) //nolint:gosec,noctx // its end is Stop
	unprivileged(cmd)
	var err error
	s.named, err = processes.StartCommand("named", cmd)
	require.NoError(t, err)
	limit := time.NewTimer(startWithin)
	defer limit.Stop()
	for !s.answers() {
		select {
		case <-s.named.Ended():
			t.Fatalf("named ended:\n%s", s.Log())
		case <-limit.C:
			t.Fatalf("named does not answer:\n%s", s.Log())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// answers says whether named serves any zone by TCP.
func (s *Server) answers() bool {
	m := new(dns.Msg).SetQuestion("version.bind.", dns.TypeTXT)
	m.Question[0].Qclass = dns.ClassCHAOS
	r, _, err := (&dns.Client{Net: "tcp", Timeout: time.Second}).Exchange(m, s.Address())
	return err == nil && r != nil
}

// Address is host:port on 127.0.0.1, Address6 on ::1.
func (s *Server) Address() string { return net.JoinHostPort("127.0.0.1", s.Port) }

// Address6 is Address on ::1.
func (s *Server) Address6() string { return net.JoinHostPort("::1", s.Port) }

// Stop ends named, which writes what its journals hold into the zone files.
func (s *Server) Stop() {
	if s.named != nil {
		s.Thaw()
		s.named.Stop()
		s.gone()
	}
}

// Kill is kill -9; journals survive it.
func (s *Server) Kill() {
	s.named.Kill()
	s.gone()
}

func (s *Server) gone() {
	s.past = s.Log()
	s.named = nil
}

// Freeze stops the process (SIGSTOP): connections are taken and nobody answers.
func (s *Server) Freeze(t *testing.T) {
	t.Helper()
	require.NoError(t, s.named.Freeze(t.Context()))
}

// Thaw ends Freeze.
func (s *Server) Thaw() { s.named.Thaw() }

// Log is what named wrote.
func (s *Server) Log() string {
	if s.named == nil {
		return s.past
	}
	return s.past + s.named.Stderr().Text() + "\n"
}
