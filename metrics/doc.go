// Package metrics is what gnomon's processes tell Prometheus, and the port where they
// say so, with the probes beside it:
//
//   - Registry holds all instruments of one process, Temporal's client and the Go
//     runtime included;
//   - Facade are those of the API, Worker those of the worker. Both may be nil, which
//     measures nothing, so that whoever is measured need not ask;
//   - Registry.Store wraps a store;
//   - Server serves /metrics, /livez and /readyz.
//
// Every label has few values that are known beforehand: methods, kinds of actions,
// outcomes, operations. Ids, addresses and texts are never labels. Series whose labels
// are known exist from the start with 0, so that the first increase is one.
//
// docs/operations.md explains each metric, deploy/prometheus has the alerts.
package metrics
