// Package ledger is what the stores of batches have in common: what a row may become by
// each call, and how it is encoded. A store reads rows in a transaction, has them changed
// here, and writes them back.
package ledger
