// Package channels carries notices to people: by a webhook, by mail, and into the log of
// the worker. [Load] makes the channels of an installation from a file.
//
// A notice says which batch, where it stands, in which round, and what stands against it
// as codes and indices of changes. It holds nothing of the changes themselves: no bodies,
// no records, no URLs.
//
// A channel may be told the same notice more than once, after an answer was lost. The
// notice's key lets the other side drop it: a webhook has it in the header
// Idempotency-Key, a mail has it in its Message-ID and in X-Gnomon-Key.
package channels
