// Package record makes the recordings of package replay: its tests bring actions into
// every state on an embedded Temporal server, and replay each history at once. The ids
// of the actions are the names of their recordings. `make record` keeps the histories,
// `make test` throws them away.
package record
