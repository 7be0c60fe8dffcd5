// Package cli is the command line client of gnomon: the verbs of
// `gnomon action`, thin over gnomonv1.ActionServiceClient and nothing else.
//
// New gives the root command, to which cmd/gnomon adds the commands that serve;
// Run executes it and says how the process is to exit. A command reads its flags
// into a request, sends it, and hands the reply to one printer, which shows the
// same message as a table for people, as proto3 JSON or as YAML.
//
// What goes where: results to stdout, everything said about them (warnings,
// hints, progress, errors) to stderr.
package cli
