// Package agent is the process on a node that runs its actions (seed 002): a durable
// queue (agent/queue) from which one action at a time is performed (agent/kind), a
// Temporal worker on the node's own task queue through which the core fetches and pushes
// ([Agent] dials out; the node needs no open port), and a local gRPC API that works
// without the core.
//
// The agent does not wait for the core: what is in its queue runs, whether Temporal can
// be reached or not, and is told later. It does tell the core that there is news, thirty
// times in a row and then once a second at most; that is a hint, and nothing is lost if it is.
package agent
