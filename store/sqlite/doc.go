// Package sqlite is the store.Actions on one SQLite file, or in memory, without
// any server and without cgo. It passes the suite of package storetest.
//
// Writes go through one goroutine with one connection, which puts all that wait
// into one transaction: a caller alone pays one commit, sixteen callers at once
// share two, and nobody waits for a group to fill. Reads have connections of their
// own, which the write-ahead log keeps from waiting for the writer. Several
// processes may open the same file on the same machine; they take turns at
// writing.
package sqlite
