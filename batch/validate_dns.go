package batch

import (
	"fmt"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/rule"
)

// dnsRecord judges what needs no knowledge of DNS: names, records and zones are judged by
// the kind of change, which has a parser for them.
func (v *violations) dnsRecord(field string, c *gnomonv1.DnsRecordChange) {
	v.enum(field, "action", int32(c.GetAction()), gnomonv1.DnsRecordChange_Action_name)
	v.dnsName(field+".name", c.GetName(), true)
	v.enum(field, "type", int32(c.GetType()), gnomonv1.DnsRecordChange_Type_name)
	if c.GetTtl() > MaxTTL {
		v.add(field+".ttl", rule.OutOfRange, "ttl must be at most %d seconds", MaxTTL)
	}
	switch n := len(c.GetData()); {
	case c.GetAction() == gnomonv1.DnsRecordChange_DELETE && n > 0:
		v.add(field+".data", rule.Unsupported, "data must be empty for DELETE; previous_data says what must stand")
	case c.GetAction() != gnomonv1.DnsRecordChange_DELETE && n == 0:
		v.add(field+".data", rule.Required, "data must hold at least one record")
	}
	v.records(field+".data", c.GetData())
	if c.GetAction() == gnomonv1.DnsRecordChange_ADD && len(c.GetPreviousData()) > 0 {
		v.add(field+".previous_data", rule.Unsupported, "previous_data must be empty for ADD")
	}
	v.records(field+".previous_data", c.GetPreviousData())
	v.dnsName(field+".zone", c.GetZone(), false)
	if size := len(c.GetOwner()); size > MaxOwnerLength {
		v.add(field+".owner", rule.TooLong, "owner is %d bytes long, at most %d are allowed", size, MaxOwnerLength)
	}
}

// enum checks that a value is one of those that are known, and set.
func (v *violations) enum(field, name string, value int32, known map[int32]string) {
	switch {
	case value == 0:
		v.add(field+"."+name, rule.Required, "%s must be set", name)
	case known[value] == "":
		v.add(field+"."+name, rule.Unsupported, "%s is not known", name)
	}
}

func (v *violations) dnsName(field, name string, required bool) {
	switch {
	case name == "" && required:
		v.add(field, rule.Required, "%s must be set", rule.LastName(field))
	case len(name) > MaxNameLength:
		v.add(field, rule.TooLong, "%s is %d bytes long, at most %d are allowed", rule.LastName(field), len(name), MaxNameLength)
	}
}

func (v *violations) records(field string, all []string) {
	if len(all) > MaxRecords {
		v.add(field, rule.TooMany, "there are %d records, at most %d are allowed", len(all), MaxRecords)
		return
	}
	for i, one := range all {
		if len(one) > MaxRecordLength {
			v.add(fmt.Sprintf("%s[%d]", field, i), rule.TooLong, "the record is %d bytes long, at most %d are allowed", len(one), MaxRecordLength)
		}
	}
}
