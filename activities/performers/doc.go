// Package performers does what actions ask for: one [Performer] for each case of
// the oneof gnomon.v1.Action, and the [Set] that has them all.
//
// To add a kind of action: add its case to the oneof, write a file here with a
// type that has the method Perform, and register it by one line in [New]. A test
// fails for a case that has no line.
//
// What every performer here keeps to:
//
//   - It stops soon after its context ends, and then its error wraps the error of
//     that context. An error for any other reason never does, so that a spec's own
//     time limit is told from a worker that stops (M-37, M-38).
//   - It sends the idempotency key on, since it may be called again for the same
//     occurrence (M-04, M-59).
//   - Its errors say where and how a call went wrong and never quote header
//     values, queries, payloads or what the other side wrote. What the other side
//     wrote is in [Reply], also beside an error.
//   - It decides nothing about retries, but may call an error [Permanent].
//
// The package knows nothing of Temporal.
package performers
