// Package starter is the facade: it validates what clients ask for, starts and
// signals workflows, and reads the store (P-01). It holds no state, and what it
// accepted stands even while no worker runs.
//
// A Server serves gnomon.v1.ActionService as gRPC, with health and reflection, and
// the same as REST and JSON. REST calls gRPC through a connection within the
// process, so both behave alike: a request that is refused gets the same code, the
// same field path and the same reason whichever way it came.
//
// Every error is a google.rpc.Status with an ErrorInfo of the domain "gnomon";
// errors.go has their table. Payloads and causes never reach a caller, and
// payloads never reach the log.
package starter
