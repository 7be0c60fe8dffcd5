// Package stages holds the tests of entities and stages on real processes (issue 7): a
// facade, workers, Temporal on a file and servers of stages, which are killed with -9,
// stopped and started again. Who judges reads what the stages wrote down of their calls,
// what the clients were answered, and the store.
//
// The short forms are part of make test. The long ones, with progress:
//
//	GNOMON_TEST_CHANGES=10000 GNOMON_TEST_SECONDS=200 go test -count 1 -v -timeout 30m -run '^TestKilled$' ./e2e/stages
//	GNOMON_TEST_STOPPED=60 go test -count 1 -v -timeout 30m -run '^TestOneStageIsStopped$' ./e2e/stages
//	GNOMON_TEST_LIMITS=60 GNOMON_TEST_RATE=5 go test -count 1 -v -timeout 30m -run '^TestLimits$' ./e2e/stages
package stages
