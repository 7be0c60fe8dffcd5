// Package replay keeps histories of actions as a Temporal server recorded them, in
// every state, and replays them: a workflow that no longer decides as it did when
// they were recorded would break the actions that are under way at a deployment.
//
// testdata/v<life.Version>/ holds one gzipped JSON for each of States. `make record`
// writes those of the present version anew; those of older versions stay for ever,
// as actions of those versions may still be alive. testdata/batch/v<batch.Version>/
// holds those of BatchStates in the same way, testdata/reconciler/ those of
// ReconcilerStates. docs/changing-workflows.md says when to record.
package replay
