// Package group lets callers who write at the same time share a transaction.
//
// While one group is committed, the callers that come wait, and together they are
// the next one. So nobody is delayed to fill a group, and a group is as big as the
// database is slow.
package group
