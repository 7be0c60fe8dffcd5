// Package record is what a run of the fault tests leaves in a directory for its judge:
// append-only files of JSON lines, each written by the one that saw it.
//
//	run.json          what was run and by which limits it is judged
//	arrivals.jsonl    every request, by gnomon's package receiver
//	visits.jsonl      the same requests with their ends, by the door before it
//	calls.jsonl       every call of the clients with its answer and times
//	injections.jsonl  what was done to the installation, and when
//	rows.jsonl        every change of a row of the store, as it was seen
//	finals.jsonl      what Temporal says of each action at the end
//	gnomon.db         the store
package record
