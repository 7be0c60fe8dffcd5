// Package life is the life of a scheduled action as plain functions over its
// state: what is to be done next (Next, Begin), what an attempt's end makes of it
// (Settle), and what a command does (Check, Apply). The workflow and the activity
// call the same functions, so that the row an attempt writes and the state the
// workflow keeps cannot differ. Nothing here knows Temporal, a clock or I/O.
package life
