package store

// Store is all that one database holds, opened once for a process. Each kind of work
// needs its own part only.
type Store interface {
	Actions
	Batches
	Nodes
	Entities
}
