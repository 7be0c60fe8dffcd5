// Package bindtest runs a real BIND for tests: named as an unprivileged process on
// loopback ports of its own, with zones that take updates signed by a key.
//
// Where named is not installed the test is skipped, except in CI (the environment
// variable CI is set), where it fails: .ci/run installs bind9 and bind9-dnsutils.
package bindtest
