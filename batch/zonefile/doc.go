// Package zonefile reads changes of DNS records from a file in the style of a zone file
// (RFC 1035, section 5), where each line says what becomes of a record:
//
//	$ORIGIN example.org.
//	$TTL 300
//	$OWNER shop
//	+ www        A     192.0.2.1      ; add
//	+ www        A     192.0.2.2      ; to the same set
//	- old        TXT                  ; delete the set, whatever stands
//	- old   IN   A     192.0.2.9      ; delete the set, which must be just this
//	- api        A     192.0.2.3      ; update the set, which must be just this,
//	+ api   60   A     192.0.2.4      ; to just this
//	update mail  MX    10 mx          ; update the set, whatever stands, to just this
//
// Instead of + and - a line may say add and delete. $OWNER, which zone files do not have,
// names the owner of the records that follow.
//
// A change is about a whole set, all records of one name and type, so the lines of one
// name and type make one change, at the place of the first of them. What a set has and
// the lines do not name is not kept: it makes the change differ from what stands.
package zonefile
