package main

// ofMirror are bugs in how rows reach the store: activities/mirror.go, and in their
// order: store/revision.go.
var ofMirror = []mutant{
	{
		name: "older-row-replaces-newer", requirement: "M-61", tests: attempts,
		why:   "of two rows that wait the wrong one is written",
		edits: alone("activities/mirror.go", "w.row.Revision.Encode() < row.Revision.Encode()", "w.row.Revision.Encode() > row.Revision.Encode()"),
	},
	{
		name: "failed-rows-dropped", requirement: "F5", tests: attempts,
		why:   "after an outage of the store lists are wrong for ever",
		edits: alone("activities/mirror.go", "\t\t\t\tm.put(w.row, w.since, w.done...)\n", "\t\t\t\t_ = w\n"),
	},
	{
		name: "told-together-while-down", requirement: "F5", tests: attempts,
		why:   "while the store is down attempts end in bursts, and others are late",
		edits: alone("activities/mirror.go", "case down && m.tells > 0:", "case down && m.tells < 0:"),
	},
	{
		name: "down-for-ever", requirement: "F5", tests: attempts,
		why:   "after an outage each action costs an activity more",
		edits: alone("activities/mirror.go", "\t\tm.down = nil\n", ""),
	},
	{
		name: "store-retried-without-pause", requirement: "F5", tests: attempts,
		why:   "a store that is down is hammered",
		edits: alone("activities/pace.go", "mirrorPause = 500 * time.Millisecond", "mirrorPause = 5 * time.Millisecond"),
	},
	{
		name: "close-leaves-rows", requirement: "F5", tests: attempts,
		why:   "a worker that stops loses the rows that wait",
		edits: alone("activities/mirror.go", "\tfor ctx.Err() == nil {\n\t\tbatch := m.take()", "\tfor ctx.Err() != nil {\n\t\tbatch := m.take()"),
	},
	{
		name: "waiting-rows-without-bound", requirement: "F5", tests: attempts,
		why:   "a long outage of the store fills the worker's memory",
		edits: alone("activities/mirror.go", "for len(m.waiting) > mirrorKept {", "for len(m.waiting) > 100*mirrorKept {"),
	},
	{
		name: "revision-without-phase", requirement: "M-61", tests: in("store"),
		why:   "an attempt's end is refused after its beginning",
		edits: alone("store/revision.go", "nanos, r.Sequence, r.Attempt, r.Phase)", "nanos, r.Sequence, r.Attempt, r.Phase&0)"),
	},
	{
		name: "revision-attempt-first", requirement: "M-61", tests: in("store"),
		why: "an old occurrence's tenth attempt is newer than the next occurrence's first",
		edits: alone("store/revision.go", `"%016x%016x%08x%08x", nanos, r.Sequence, r.Attempt, r.Phase)`,
			`"%016x%08x%016x%08x", nanos, r.Attempt, r.Sequence, r.Phase)`),
	},
	{
		name: "revision-not-padded", requirement: "M-61", tests: in("store"),
		why:   "revision 10 comes before 9",
		edits: alone("store/revision.go", "%016x%016x%08x%08x", "%016x%x%08x%08x"),
	},
	{
		name: "zero-revision-not-the-oldest", requirement: "design, The mirror row", tests: in("store"),
		why:   "the facade's first row hides the workflow's",
		edits: alone("store/revision.go", "nanos = max(0, r.Incarnation.UnixNano())", "nanos = max(0, -r.Incarnation.UnixNano())"),
	},
}
