// Package ydb is the store.Actions on YDB, for several processes and machines. It
// passes the suite of package storetest, through the real SDK, against the double
// that package ydbdouble is; what was never run on a real YDB says docs/ydb.md.
//
// Concurrent writes are put into one statement, which joins their rows with what
// stands and writes those that are newer: one round trip and one transaction,
// however many callers. While statements take long more of them are under way at
// once, so that no row waits for the one before its own. Each row carries a random number, by which the repetition
// of a write whose answer was lost knows that it has applied, so that every call
// may be repeated and says the truth.
//
// An installation is a directory of the database (M-48). Its tables are made by
// Migrate, which one process runs before the others start: YDB has no lock that
// would let them take turns. Open refuses a schema that is behind or ahead.
package ydb
