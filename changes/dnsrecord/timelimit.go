package dnsrecord

import (
	"time"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/batch/records"
)

// exchanges are the most that applying a change takes: to read what stands, to connect
// and update, to read again why it was refused, each with a connection of its own.
const exchanges = 6

// TimeLimit implements changes.Kind.
func (k *Kind) TimeLimit(c *gnomonv1.Change) time.Duration {
	parsed, _ := records.Parse(c.GetDnsRecord())
	if z, ok := k.zoneOf(parsed); ok {
		return exchanges*z.Timeout + z.ClockSkew
	}
	return defaultTimeout
}
