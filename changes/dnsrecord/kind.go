package dnsrecord

import (
	"errors"
	"fmt"

	"github.com/miekg/dns"

	"gnomon/batch/records"
)

// name is the case of the oneof in gnomon.v1.Change.
const name = "dns_record"

// Kind is the kind dns_record. It keeps no connections.
type Kind struct {
	zones map[string]Zone
}

// New makes the kind. Nothing is dialled yet.
func New(c Config) (*Kind, error) {
	k := &Kind{zones: map[string]Zone{}}
	var bad []error
	for _, z := range c.Zones {
		z, err := z.normalised()
		if err != nil {
			bad = append(bad, err)
		}
		if _, twice := k.zones[z.Name]; twice {
			bad = append(bad, fmt.Errorf("zone %q is there twice", z.Name))
		}
		k.zones[z.Name] = z
	}
	return k, errors.Join(bad...)
}

// Validate has one line for each zone that breaks a rule.
func (c Config) Validate() error {
	_, err := New(c)
	return err
}

// Name implements changes.Kind.
func (*Kind) Name() string { return name }

// zoneOf finds the zone of a change.
func (k *Kind) zoneOf(c records.Change) (Zone, bool) {
	if c.Zone != "" {
		z, ok := k.zones[c.Zone]
		return z, ok
	}
	for i, end := 0, false; !end; i, end = dns.NextLabel(c.Name, i) {
		if z, ok := k.zones[c.Name[i:]]; ok {
			return z, true
		}
	}
	z, ok := k.zones["."]
	return z, ok
}
