// Package entity tests entities and their stages with the real parts: Temporal's server,
// facade, worker and store, over gRPC and REST (seed 004).
package entity
