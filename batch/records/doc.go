// Package records holds the rules of DNS record sets as text: what a DnsRecordChange may
// say, and what it means. Everything here is a plain function of its arguments; what
// stands in a zone is the business of the kind dns_record.
//
// Names are compared and shown in canonical form: lower case, fully qualified, with the
// last dot. Data is in presentation format (RFC 1035, section 5.1), where every name is
// fully qualified, with or without its last dot.
package records
