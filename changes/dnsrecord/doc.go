// Package dnsrecord is the kind of change dns_record: record sets of DNS zones, read by
// queries and changed by dynamic updates (RFC 2136) signed with TSIG (RFC 8945), both
// over TCP to the zone's authoritative primary server.
//
// A tour:
//
//   - [Config] says which zones there are; [Load] reads it from a file.
//   - [Kind.Validate] reads what stands at the names of the changes and then plays the
//     changes through in their order: world.go.
//   - [Kind.Apply] sends one message for one change: update.go. What must stand is a
//     prerequisite of that message, so the server judges and changes in one step, and a
//     message that comes twice changes nothing the second time.
//   - The signature is made for the turn's begin and valid until its end, so the server
//     itself refuses a message that a stalled worker sends later: [fudge].
//
// # Who owns a record
//
// A TXT record "owner=<label>" at _owner.<name> says that the records of that name belong
// to the label. Changing them without naming that owner is a soft problem. gnomon only
// reads these records; whoever wants to claim a name adds one, by a change like any other.
package dnsrecord
