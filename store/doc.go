// Package store is the mirror of what Temporal knows: rows that queries read.
// Temporal is the truth; a store that is down delays what lists show and never an
// action. Package storetest holds the suite that every implementation passes.
package store
