// Package reconcile compares the mirror's rows with what Temporal knows and repairs
// the rows, never Temporal (design.md, The mirror row).
//
// # What is judged
//
// A round has two walks. The first pages through the open workflows that visibility
// lists and looks for those without a living row; the second pages through the living
// rows, by id. Visibility is only where ids come from, as it lags: what is judged is a
// Look, which reads the row, then describes the newest run of the workflow, then asks
// it by the query action, and reads the row again if something is wrong. Description
// and query are consistent: they see all that Temporal has accepted.
//
// Rows come after what they tell of. A row that stood before the description and still
// stands after it therefore belongs to no run younger than the described one: if that
// run is closed, or there is none, then the row's is gone. And a sequence in a row was
// handed out before the question, so that a row that is ahead of the answer is wrong.
//
// A finding counts when a second look, Settle later, sees the same: the same row, run
// and revision. What moves meanwhile is at work and left alone, as is what changed
// within Grace.
//
// # Which revision a repair carries
//
// All repairs are conditional writes; what is newer always stands.
//
//   - Of an open workflow, the answer is the row that it would write itself, so it
//     carries the revision that came with it, as the facade's write after a command
//     does. If what stands is wrong and not older (changed by hand, or the workflow was
//     reset to an earlier point), it carries the immediate successor of the revision
//     that stands: no revision lies between, so the write applies only if the very row
//     that was judged still stands. The workflow is not signalled to write its row
//     itself: that would add some ten events to each history, and take a workflow
//     task and an activity for each row when a lost store is filled again, for the same
//     row.
//   - Of a closed workflow, the tombstone carries the incarnation of the closed run and
//     the greatest sequence. No late write of that incarnation, such as of an attempt
//     that outlives a termination, is newer; every row of a later incarnation is, since
//     it began later by Temporal's clock. One exception: the facade's first row of a new
//     action replaces a tombstone whatever its revision.
//   - Of a workflow that Temporal does not know, the tombstone carries the immediate
//     successor of what stands. Nothing of the old one is left that could write, and if
//     it was all a mistake, such as a wrong namespace, the next row of the workflow
//     stands again. For the same reason these wait for the end of the round and are not
//     made if they are more than Config.MaxOrphans.
//
// One gap remains, of milliseconds: a row that stood where the repair was computed may
// be deleted and created anew before the repair is written. So every repair is looked at
// again and repaired again until the look is clean.
package reconcile
