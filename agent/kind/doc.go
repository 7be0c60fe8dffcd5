// Package kind performs node actions: programs and HTTP requests, each a [Kind]. Adding
// one is one file here, one case of the contract's oneof and one entry of [All].
//
// A kind is the last guard of its node: it permits what its own configuration permits,
// whoever asks.
package kind
