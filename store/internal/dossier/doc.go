// Package dossier is what the stores of entities have in common: what an entity, the
// states of its stages, its turn and its outbox may become by each call, and how they are
// encoded. A store reads rows in a transaction, has what is to be written decided here,
// and writes it.
package dossier
