// Package mirror is what the stores of actions share: the columns of a row, derived
// from its protobufs, and the way back.
package mirror
