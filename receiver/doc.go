// Package receiver is the other side of http_request for tours and tests: a server
// that shows, records and remembers every request that reaches it, and misbehaves
// where its path asks for that. It is no part of a production installation.
//
//	/ok              200
//	/status/503      that status, 200 to 599
//	/fail-first/N    503 while Gnomon-Attempt is at most N, then 200
//	/slow/5s         200 after that time
//	/block           200 once [Receiver.Release] is called
//	/big/N           200 with a body of N bytes
//	/judge           200, as a validate_url of http_change that finds nothing
//	/judge/hard/X    the same, and it finds the hard problem X; /judge/soft/X a soft one
//	/judge/hard/X/only/N  it finds it the Nth time that a batch asks, and no other time
//	anything else    200
//
// What follows after these, as in /fail-first/2/invoice, is not looked at and may
// tell requests apart. A number, status or time that cannot be read is 400.
//
// A request is recorded when it has arrived and its body is read, before it is
// answered, so what was recorded may not have been answered: a client can leave
// early. The record is on its way to the file before the answer is on its way to
// the client, and survives the death of the process though not of the machine.
package receiver
