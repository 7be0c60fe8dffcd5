// Package workflows holds the workflows: they decide, by the rules of the packages
// action and action/life, and never do. What is done is done by activities, which
// they know by name only.
//
// A scheduled action is one workflow (Action), keyed by action/<Meta.Id>. It sleeps
// on a timer to its time or its deadline, performs an occurrence by one execution
// of the activity Perform, whose retries the server drives, and ends with its final
// Status. Commands reach it as updates, which answer, or as signals, which wait for
// a worker; both go through the same functions, each command id once.
//
// Workers must have Interceptors installed: the SDK keeps a channel for each
// signal name and loses the order between them, which the interceptor records.
package workflows
