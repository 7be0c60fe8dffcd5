// Package e2e tests gnomon on a real Temporal server: the embedded one, shared by
// the tests that run in this process, and whole processes that are killed and
// started again. Its test binary is also those processes, so that it is built once.
package e2e
