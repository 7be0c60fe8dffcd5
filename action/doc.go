// Package action holds the rules of a scheduled action: what may be asked for,
// when it is due, how far apart it is retried and when it ends.
//
// Everything here is a plain function of its arguments. There is no clock (times
// are arguments), no randomness, no I/O and no Temporal, nothing depends on the
// order of a map, and time zones come from data embedded in the binary. So the
// functions may be called from workflow code and replay to the same results.
//
// A tour, in the order an action meets them:
//
//   - Validate says all that is wrong with a ScheduledAction, each with the field's
//     path and the rule. ValidateSpec, ValidateID and ValidateLabels are its parts.
//   - Normalise fills in every default and drops what only gnomon may write. The
//     functions below take a spec that was validated; given another they still
//     neither panic nor loop, and their comments say what they answer.
//   - FirstDue, NextDue and Preview are the schedule: once, by period or by the
//     calendar, with jitter. Deadline and Expired are its end.
//   - Kind, Summary, IdempotencyKey and PerformTimeout are what a worker needs to
//     perform an occurrence and to show it to people.
//   - RetryPolicy, Delay, MaxAttempts and NativeRetry are what follows a failure.
//
// # Precision
//
// Points in time count in whole microseconds, the precision of the store:
// Normalise cuts what is finer from timestamps, from the period and from the
// jitter, and due times of a normalised spec are whole microseconds. The delay of
// a retry is exact to the nanosecond.
package action
