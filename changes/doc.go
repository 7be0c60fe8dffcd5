// Package changes is the contract of the kinds of changes that batches are made of
// (seed 003), and the set of those that an installation has. Facade and worker use the
// same set: the facade validates when a batch is submitted (V-03), the worker validates
// again when its time has come (V-07) and applies.
//
// Each kind is a package of its own below this one. Adding one takes a case of the oneof
// in gnomon.v1.Change, a package with a [Kind], and a line in the package kinds. What can
// be judged without the world (lengths, required fields) is a rule of package batch.
package changes
