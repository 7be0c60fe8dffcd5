// Package kinds puts together the kinds of changes that an installation has.
package kinds

import (
	"errors"

	"gnomon/changes"
	"gnomon/changes/dnsrecord"
	"gnomon/changes/httpchange"
	"gnomon/outbound"
)

// Config is an installation's choice of kinds. The zero value has all that need nothing.
type Config struct {
	// DNS has the zones of dns_record. With none, every dns_record is a problem.
	DNS dnsrecord.Config
	// HTTP tunes the requests of http_change.
	HTTP outbound.HTTPConfig
}

// New registers every kind: this is the one place that names them all.
func New(c Config) (changes.Set, error) {
	dns, errDNS := dnsrecord.New(c.DNS)
	http, errHTTP := httpchange.New(c.HTTP)
	if err := errors.Join(errDNS, errHTTP); err != nil {
		return nil, err
	}
	return changes.NewSet(dns, http)
}

// Open is New with the zones of a file, or none if name is empty; see [dnsrecord.Load].
func Open(zones string) (changes.Set, error) {
	var c Config
	if zones != "" {
		var err error
		if c.DNS, err = dnsrecord.Load(zones); err != nil {
			return nil, err
		}
	}
	return New(c)
}
