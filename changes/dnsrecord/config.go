package dnsrecord

import (
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/miekg/dns"
)

// Config is what an installation lets be changed. The zero value serves no zone.
type Config struct {
	// Zones that are served. Names may be nested; the longest one that holds a name has
	// it.
	Zones []Zone
}

// Zone is one zone and who serves it.
type Zone struct {
	// Name of the zone. Required.
	Name string
	// Server is host or host:port of the primary server, which takes updates. The port
	// is 53 where there is none. Required.
	Server string
	// Key signs messages. Without one the zone can be read, so changes can be
	// validated, but not applied.
	Key Key
	// TTL are the times to live that are usual here. Others are soft problems.
	TTL TTLRange
	// HighValue are names whose change is a soft problem, with * for any characters,
	// such as "example.org" or "*.prod.example.org".
	HighValue []string
	// OwnerLabel is the first label of the names that say who owns a record. Default
	// "_owner".
	OwnerLabel string
	// Timeout bounds each exchange with the server, within the time its caller has.
	// Default 5 seconds.
	Timeout time.Duration
	// ClockSkew is how far the clocks of worker and server may be apart. A message is
	// valid until that much before its turn ends; see fudge. 0 to 1 minute. Default 1
	// second.
	ClockSkew time.Duration
}

// TTLRange bounds times to live, in seconds.
type TTLRange struct {
	// Min and Max are usual. Default 0 and 2^31 - 1.
	Min, Max uint32
	// Default is that of changes that say none. Default 300, or the nearest in range.
	Default uint32
}

// Key is a TSIG key.
type Key struct {
	// Name as the server knows it.
	Name string
	// Algorithm is hmac-sha256 (the default), hmac-sha224, hmac-sha384, hmac-sha512 or
	// hmac-sha1.
	Algorithm string
	// Secret in base64. Never logged.
	Secret string
}

// String hides the secret.
func (k Key) String() string { return k.Name + " (" + k.Algorithm + ")" }

// GoString hides the secret.
func (k Key) GoString() string { return k.String() }

func (k Key) set() bool { return k != Key{} }

// algorithms are the names of TSIG algorithms.
var algorithms = []string{"hmac-sha256", "hmac-sha224", "hmac-sha384", "hmac-sha512", "hmac-sha1"}

const (
	defaultTTL     = 300
	defaultTimeout = 5 * time.Second
	defaultSkew    = time.Second
	maxSkew        = time.Minute
	defaultOwner   = "_owner"
)

// normalised checks a zone and fills in its defaults.
func (z Zone) normalised() (Zone, error) {
	var bad []error
	say := func(format string, args ...any) { bad = append(bad, fmt.Errorf(format, args...)) }
	if _, ok := dns.IsDomainName(z.Name); !ok || z.Name == "" || strings.ContainsAny(z.Name, " *\"\\;()@$") {
		say("zone %q: name must be a domain name", z.Name)
	}
	if host, port, err := net.SplitHostPort(z.Server); err != nil {
		z.Server = net.JoinHostPort(strings.Trim(z.Server, "[]"), "53")
	} else if host == "" || port == "" {
		say("zone %q: server %q must be host or host:port", z.Name, z.Server)
	}
	if z.Server == ":53" {
		say("zone %q: server must be set", z.Name)
	}
	z.Name = dns.CanonicalName(z.Name)
	if z.Key.set() {
		z.Key.Algorithm = strings.TrimSuffix(strings.ToLower(cmp.Or(z.Key.Algorithm, algorithms[0])), ".")
		z.Key.Name = dns.CanonicalName(z.Key.Name)
		secret, err := base64.StdEncoding.DecodeString(z.Key.Secret)
		switch {
		case z.Key.Name == ".":
			say("zone %q: key.name must be set", z.Name)
		case !slices.Contains(algorithms, z.Key.Algorithm):
			say("zone %q: key.algorithm %q is none of %s", z.Name, z.Key.Algorithm, strings.Join(algorithms, ", "))
		case err != nil || len(secret) == 0:
			// The error would show a part of the secret.
			say("zone %q: the key's secret must be base64", z.Name)
		}
	}
	z.TTL.Max = cmp.Or(z.TTL.Max, 1<<31-1)
	if z.TTL.Min > z.TTL.Max || z.TTL.Max > 1<<31-1 {
		say("zone %q: ttl.min %d and ttl.max %d must be in order and at most 2147483647", z.Name, z.TTL.Min, z.TTL.Max)
	}
	if z.TTL.Default == 0 {
		z.TTL.Default = min(max(defaultTTL, z.TTL.Min), z.TTL.Max)
	}
	for i, pattern := range z.HighValue {
		if _, err := path.Match(pattern, ""); err != nil {
			say("zone %q: high_value[%d] %q is not a pattern", z.Name, i, pattern)
		}
	}
	z.OwnerLabel = strings.ToLower(cmp.Or(z.OwnerLabel, defaultOwner))
	if n, ok := dns.IsDomainName(z.OwnerLabel); !ok || n != 1 {
		say("zone %q: owner_label %q must be one label", z.Name, z.OwnerLabel)
	}
	z.Timeout = cmp.Or(z.Timeout, defaultTimeout)
	if z.Timeout < 0 || z.Timeout > time.Minute {
		say("zone %q: timeout is %s and must be above 0s and at most 1m", z.Name, z.Timeout)
	}
	z.ClockSkew = cmp.Or(z.ClockSkew, defaultSkew)
	if z.ClockSkew < 0 || z.ClockSkew > maxSkew {
		say("zone %q: clock_skew is %s and must be 0s to %s", z.Name, z.ClockSkew, maxSkew)
	}
	return z, errors.Join(bad...)
}

// highValue says whether a name is one that a person should look at.
func (z Zone) highValue(name string) bool {
	name = strings.TrimSuffix(name, ".")
	return slices.ContainsFunc(z.HighValue, func(pattern string) bool {
		match, _ := path.Match(strings.TrimSuffix(dns.CanonicalName(pattern), "."), name)
		return match
	})
}

// ownerName is the name whose TXT record says who owns a name.
func (z Zone) ownerName(name string) string {
	if strings.HasPrefix(name, z.OwnerLabel+".") {
		return name
	}
	return z.OwnerLabel + "." + name
}
