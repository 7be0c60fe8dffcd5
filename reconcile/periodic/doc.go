// Package periodic has the reconciler run itself: one workflow for each installation,
// reconcile/<task queue>, that makes a round, sleeps and begins again.
//
// It is a workflow of its own and not a scheduled action: an action has one due time,
// retries and a row, and a reconciler that depends on rows, or shows up in the lists
// of clients, would be harder to explain than these hundred lines. Nor is it one of
// Temporal's schedules, whose runs would each be a workflow in the Web UI; here the
// last round's figures are the current details of the one run.
//
// A round is one activity. Its heartbeats carry the cursor, page by page, so that the
// next attempt, on any worker, goes on where the last one stopped. A round costs twelve
// events or so, and after a hundred the workflow continues as new.
package periodic
