// Package roster is what the stores of node actions and playbooks have in common: how a
// row is encoded, and which of several writes stands.
package roster
