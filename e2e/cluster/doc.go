// Package cluster has node actions and playbooks (seed 002) pass through gnomon as it is
// put together: facade, worker, store, Temporal and real agents that run real programs.
// There are only tests.
package cluster
