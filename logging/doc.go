// Package logging makes the loggers of gnomon's processes: slog, as JSON for machines or
// text for people, with the ids of what a line is about.
//
// Ids come from the context: those that [With] put there, and trace_id and span_id of
// the span that is under way. Errors of actions are shown as their type: what a receiver
// answered, or a performer panicked with, may hold what was sent, and is in the action's
// status for those who may read it.
package logging
