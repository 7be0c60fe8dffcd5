package main

// ydbRules are the rules of every store on YDB's double; ydbTests, all tests of the store,
// are for what only faults and plans show.
var (
	ydbRules = []target{{pkg: "./store/ydb", run: "^TestConformance$"}}
	ydbTests = in("store/ydb")
)

const (
	ydbStatements = "store/ydb/statements.go"
	ydbQueries    = "store/ydb/query.go"
)

// ofYDB are bugs in the mirror on YDB: store/ydb.
var ofYDB = []mutant{
	{
		name: "ydb-row-without-revision-check", requirement: "M-61", tests: ydbRules,
		why:   "a late write overwrites a newer row",
		edits: alone(ydbStatements, "COALESCE(r.revision > t.revision, false)", "COALESCE(r.revision > \"\"u, false)"),
	},
	{
		name: "ydb-equal-revision-applied", requirement: "M-61", tests: ydbRules,
		why:   "a doubled write seems to have applied twice",
		edits: alone(ydbStatements, "COALESCE(r.revision > t.revision, false)", "COALESCE(r.revision >= t.revision, false)"),
	},
	{
		name: "ydb-expired-tombstone-refuses", requirement: "design, The mirror row", tests: ydbRules,
		why:   "whether a write applies depends on when the purge ran",
		edits: alone(ydbStatements, "t.revision IS NULL OR COALESCE(t.expire_at <= $now, false) THEN true", "t.revision IS NULL OR COALESCE(t.expire_at <= $now AND false, false) THEN true"),
	},
	{
		name: "ydb-insert-over-a-live-row", requirement: "design, The mirror row", tests: ydbRules,
		why:   "a facade's late first row hides all that happened since",
		edits: alone(ydbStatements, "COALESCE(t.tombstone AND t.chain != r.chain, false)", "COALESCE(NOT t.tombstone OR t.chain != r.chain, false)"),
	},
	{
		name: "ydb-insert-revives-own-tombstone", requirement: "M-61", tests: ydbRules,
		why:   "a facade's late first row brings a finished action back into lists",
		edits: alone(ydbStatements, "COALESCE(t.tombstone AND t.chain != r.chain, false)", "COALESCE(t.tombstone AND t.chain >= \"\"u, false)"),
	},
	{
		name: "ydb-insert-forgets-the-tombstone", requirement: "M-61", tests: ydbRules,
		why:   "a late row of the old incarnation overwrites the new one's first",
		edits: alone(ydbStatements, "ELSE COALESCE(t.revision, r.revision)", "ELSE COALESCE(r.revision, t.revision)"),
	},
	{
		name: "ydb-put-keeps-the-revision", requirement: "M-61", tests: ydbRules,
		why:   "a row seems as old as what it replaced, and an older one that comes late replaces it",
		edits: alone(ydbStatements, "WHEN NOT r.inserts OR COALESCE(t.expire_at <= $now, false) THEN r.revision", "WHEN COALESCE(t.expire_at <= $now, false) THEN r.revision"),
	},
	{
		name: "ydb-statement-for-each-row", requirement: "F5", tests: ydbTests,
		why:   "a group of rows takes as many round trips as it has rows: with a slow server they queue up",
		edits: alone("store/ydb/writer.go", "weights[n]+weight > groupBytes", "weights[n]+weight > 0"),
	},
	{
		name: "ydb-rows-wait-for-slow-statements", requirement: "F5", tests: ydbTests,
		why:   "while the server is slow a row waits for one statement and is written by the next",
		edits: alone("store/ydb/store.go", "Slow: slowWriters,", "Slow: slowWriters / slowWriters,"),
	},
	{
		name: "ydb-deletion-forgotten", requirement: "M-60", tests: ydbRules,
		why:   "a repeated delete, whose answer was lost, says that there was nothing",
		edits: alone(ydbStatements, "ELSE COALESCE(t.deleted_by, r.deleted_by)", "ELSE COALESCE(r.deleted_by, t.deleted_by)"),
	},
	{
		name: "ydb-repetition-not-recognised", requirement: "issue 4, The double", tests: ydbTests,
		why:   "a write whose answer was lost says that it did not apply",
		edits: alone(ydbStatements, "COALESCE(t.written_by = r.written_by, false)", "COALESCE(t.written_by = r.written_by AND false, false)"),
	},
	{
		name: "ydb-list-shows-tombstones", requirement: "design, The mirror row", tests: ydbRules,
		why:   "finished actions are listed among the living",
		edits: alone(ydbStatements, "whereLives  = `NOT tombstone`", "whereLives  = `(tombstone OR NOT tombstone)`"),
	},
	{
		name: "ydb-expired-tombstones-shown", requirement: "issue 4, store/ydb", tests: ydbRules,
		why:   "what ended is found for as long as YDB's TTL takes to remove it",
		edits: alone(ydbStatements, "(NOT tombstone OR expire_at > $now)", "(NOT tombstone OR expire_at > $now OR expire_at <= $now)"),
	},
	{
		name: "ydb-purge-removes-standing-tombstones", requirement: "M-61", tests: ydbRules,
		why:   "a late write revives what was purged too early",
		edits: alone(ydbStatements, "    WHERE expire_at <= $now\n", "    WHERE expire_at <= $now OR expire_at > $now\n"),
	},
	{
		name: "ydb-page-ends-within-a-tie", requirement: "issue 2, The store", tests: ydbRules,
		why: "of actions due at one moment the second page lacks those that the first had no room for",
		edits: alone(ydbStatements, "`(status_scheduled_at, meta_action_id) > ($after_due, $after_id)`",
			"`status_scheduled_at > $after_due AND $after_id != \"\"u`"),
	},
	{
		name: "ydb-page-repeats-its-end", requirement: "issue 4", tests: ydbRules,
		why:   "the last row of a page is the first of the next",
		edits: alone(ydbStatements, "whereAfterID     = `meta_action_id > $after_id`", "whereAfterID     = `meta_action_id >= $after_id`"),
	},
	{
		name: "ydb-page-back-from-the-wrong-side", requirement: "issue 4", tests: ydbRules,
		why: "descending pages begin anew where they should go on",
		edits: alone(ydbStatements, "`(status_scheduled_at, meta_action_id) < ($after_due, $after_id)`",
			"`(status_scheduled_at, meta_action_id) > ($after_due, $after_id)`"),
	},
	{
		name: "ydb-page-as-it-comes", requirement: "M-46", tests: ydbRules,
		why:   "the rows of a page have whatever order their partitions answered in",
		edits: alone("store/ydb/actions.go", "\tsortRows(rows, q)\n", "\t_ = sortRows\n"),
	},
	{
		name: "ydb-due-before-inclusive", requirement: "M-46", tests: ydbRules,
		why:   "neighbouring ranges of due times share an action",
		edits: alone(ydbStatements, "`status_scheduled_at < $due_before`", "`status_scheduled_at <= $due_before`"),
	},
	{
		name: "ydb-prefix-with-its-successor", requirement: "M-46", tests: ydbRules,
		why:   "a prefix finds an id that does not begin with it",
		edits: alone(ydbStatements, "`meta_action_id < $id_before`", "`meta_action_id <= $id_before`"),
	},
	{
		name: "ydb-label-by-its-beginning", requirement: "M-46", tests: ydbRules,
		why:   "team=a finds team=ab",
		edits: alone(ydbQueries, `"&"+labelText(key, q.Labels[key])+"&"`, `"&"+labelText(key, q.Labels[key])`),
	},
	{
		name: "ydb-wrong-index", requirement: "issue 4, done when", tests: ydbTests,
		why:   "each page by id sorts the whole table",
		edits: alone(ydbQueries, "\t\treturn viewByID\n", "\t\treturn viewByScheduledAt\n"),
	},
	{
		name: "ydb-stale-reads", requirement: "M-60", tests: ydbTests,
		why:   "who creates an action and lists does not see it",
		edits: alone("store/ydb/store.go", "return query.SnapshotReadOnlyTxControl()", "return query.StaleReadOnlyTxControl()"),
	},
	{
		name: "ydb-not-idempotent", requirement: "design, Store", tests: ydbTests,
		why:   "an answer that was lost is the caller's error, though the statement may be repeated",
		edits: alone("store/ydb/store.go", "query.WithTxControl(tx), query.WithIdempotent())", "query.WithTxControl(tx))"),
	},
	{
		name: "ydb-calls-without-end", requirement: "design, Store", tests: ydbTests,
		why:   "a call waits for a server that does not recover long after its caller gave up",
		edits: alone("store/ydb/store.go", "\tctx, cancel := context.WithTimeout(ctx, s.config.Timeout)\n\tdefer cancel()\n\tfound", "\tctx, cancel := context.WithTimeout(ctx, 40*s.config.Timeout)\n\tdefer cancel()\n\tfound"),
	},
	{
		name: "ydb-duplicates-in-one-statement", requirement: "issue 4, done when", tests: ydbRules,
		why:   "of two rows of an id in one call either may stand",
		edits: alone("store/ydb/writer.go", "\t\tn := next[p.columns.ID]\n", "\t\tn := next[\"\"]\n"),
	},
	{
		name: "ydb-statements-without-bound", requirement: "design, Store", tests: ydbTests,
		why:   "a great group is refused for its size, again and again",
		edits: alone("store/ydb/writer.go", "weights[n]+weight > groupBytes", "weights[n]+weight > 100*groupBytes"),
	},
	{
		name: "ydb-one-bad-write-fails-all", requirement: "M-61", tests: ydbTests,
		why:   "a row that the server refuses takes along the rows of others in its group",
		edits: alone("store/ydb/writer.go", "return ydb.IsOperationError(err, Ydb.StatusIds_BAD_REQUEST,", "return ydb.IsOperationError(err,"),
	},
	{
		name: "ydb-null-becomes-empty", requirement: "design, Store", tests: ydbRules,
		why:   "a row without a status comes back with one",
		edits: alone("store/ydb/actions.go", "\tif b == nil {\n\t\treturn nil\n", "\tif b == nil {\n\t\treturn []byte{}\n"),
	},
	{
		name: "ydb-timestamp-wraps", requirement: "M-45", tests: ydbTests,
		why:   "a tombstone of a clock before 1970 or after 2105 stands for ever, or not at all",
		edits: alone("store/ydb/parameters.go", "uint64(min(max(0, at.UnixMicro()), lastTimestamp))", "uint64(at.UnixMicro())"),
	},
	{
		name: "ydb-newer-schema-accepted", requirement: "issue 4, gnomon migrate", tests: ydbTests,
		why:   "an old program writes rows that a newer one cannot read",
		edits: alone("store/ydb/migrate.go", "\tcase have > want:\n", "\tcase have > want && have < 0:\n"),
	},
	{
		name: "ydb-migration-only-once", requirement: "issue 4, gnomon migrate", tests: ydbTests,
		why:   "a migration that failed at its first table can never be finished",
		edits: alone(ydbStatements, "CREATE TABLE IF NOT EXISTS goose_db_version", "CREATE TABLE goose_db_version"),
	},
	{
		name: "ydb-contention-unnamed", requirement: "issue 4, Operations", tests: ydbTests,
		why:   "conflicts of transactions and a server that is gone are one figure",
		edits: alone("store/ydb/class.go", "sdk.IsOperationError(err, Ydb.StatusIds_ABORTED, Ydb.StatusIds_SESSION_BUSY)", "sdk.IsOperationError(err, Ydb.StatusIds_SESSION_BUSY)"),
	},
}
