// Package tracing makes one OpenTelemetry trace of what a client asked for: his call,
// the facade, the workflow, each attempt, and the request that reaches the receiver.
//
// Without the OTEL_* variables there is no [Tracing], and nothing of this package is in
// the way of any call.
//
// # What a span is, and what it is not
//
// A workflow may sleep for years, so none of its spans lasts as long as it does. It
// leaves marks: RunWorkflow from the acceptance to the first look of a worker,
// HandleUpdate and HandleSignal when a command arrives, StartActivity when an occurrence
// begins. The ids of the first three follow from the ids of run, update and signal, so
// that any worker that replays the workflow, after any time, knows what to go on from,
// and nothing has to be kept: not in memory, and not in history beyond the headers.
//
// A once-action is in the trace of the call that shaped it last, however long it sleeps:
// it is that call's late half, and has few spans. An occurrence of a periodic action
// begins a trace of its own, linked to that call, as a trace of years with a span for
// each tick is of no use to anybody and many backends cut it off. All attempts of an
// occurrence are in one trace, also where the first was lost with its process, as the
// trace's id follows from the idempotency key. An occurrence that a trigger wanted is in
// the trace of the trigger.
//
// # What spans do not tell
//
// No payload, header, path, query or error text is in a span: errors are their type. A
// provider of this package drops what instrumentation of others would add.
package tracing
