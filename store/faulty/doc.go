// Package faulty is a store.Store that can be told to misbehave: a wrapper for
// tests of what must survive a store that is down, slow or forgetful (faults.md,
// F5 and F6).
//
//	s := faulty.New(inner, 1)
//	s.Set(faulty.Faults{Fail: 1})   // down
//	...
//	s.Set(faulty.Faults{})          // well again
//
// Without faults it adds nothing. With every write doubled it still passes the
// suite of package storetest.
package faulty
