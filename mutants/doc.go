// Command mutants plants bugs, one at a time, and says which of them the tests do
// not notice. What a test cannot see it does not hold.
//
//	go run ./mutants [-j 2] [-o json] [-skip tests] [name or pattern ...]
//
// Each mutant replaces a text that occurs exactly once in a file. It is built by
// the go command's overlay, so that the work tree is never touched, and meets the
// packages of tests named for it, the cheapest first, up to the first that fails.
// One whose text is gone or that does not compile is stale: it proves nothing and
// has to follow the code it was planted in.
//
// The packages have to pass without a mutant first, or nothing is run: exit code 2.
// If a mutant was not killed or is stale the exit code is 1.
package main
