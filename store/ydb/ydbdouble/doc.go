// Package ydbdouble is a server in the test's process that speaks YDB's protocol
// and runs the statements of the mirror, on SQLite. Tests reach it through YDB's own
// SDK. README.md says what that proves and what it cannot.
package ydbdouble
