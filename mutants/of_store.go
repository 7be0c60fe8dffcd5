package main

// conformance are the tests of the store.
var conformance = in("store/sqlite")

// ofStore are bugs in the store's conditions: store/sqlite.
var ofStore = []mutant{
	{
		name: "row-without-revision-check", requirement: "M-61", tests: conformance,
		why:   "a late write overwrites a newer row",
		edits: alone("store/sqlite/statements.go", "WHERE excluded.revision > scheduled_actions.revision\n", "WHERE excluded.revision >= ''\n"),
	},
	{
		name: "equal-revision-applied", requirement: "M-61", tests: conformance,
		why:   "a doubled write seems to have applied twice",
		edits: alone("store/sqlite/statements.go", "WHERE excluded.revision > scheduled_actions.revision\n", "WHERE excluded.revision >= scheduled_actions.revision\n"),
	},
	{
		name: "insert-over-a-live-row", requirement: "design, The mirror row", tests: conformance,
		why:   "a facade's late first row hides all that happened since",
		edits: alone("store/sqlite/statements.go", "WHERE scheduled_actions.tombstone = 1\n    AND (scheduled_actions.expire_at", "WHERE (scheduled_actions.tombstone = 0 OR scheduled_actions.expire_at"),
	},
	{
		name: "insert-revives-own-tombstone", requirement: "M-61", tests: conformance,
		why:   "a facade's late first row brings a finished action back into lists",
		edits: alone("store/sqlite/statements.go", "OR scheduled_actions.chain <> excluded.chain)", "OR scheduled_actions.chain IS NOT NULL)"),
	},
	{
		name: "insert-forgets-the-tombstone", requirement: "M-61", tests: conformance,
		why:   "a late row of the old incarnation overwrites the new one's first",
		edits: alone("store/sqlite/statements.go", "THEN excluded.revision ELSE scheduled_actions.revision END", "THEN excluded.revision ELSE excluded.revision END"),
	},
	{
		name: "tombstones-stand-for-ever", requirement: "design, The mirror row", tests: conformance,
		why:   "the table grows without end",
		edits: alone("store/sqlite/statements.go", "    WHERE tombstone = 1 AND expire_at <= @now\n    ORDER BY", "    WHERE tombstone = 1 AND expire_at <= 0 * @now\n    ORDER BY"),
	},
	{
		name: "purge-removes-standing-tombstones", requirement: "M-61", tests: conformance,
		why:   "a late write revives what was purged too early",
		edits: alone("store/sqlite/statements.go", "    WHERE tombstone = 1 AND expire_at <= @now\n    ORDER BY", "    WHERE tombstone = 1 AND expire_at > 0 * @now\n    ORDER BY"),
	},
	{
		name: "expired-tombstone-refuses", requirement: "design, The mirror row", tests: conformance,
		why:   "whether a write applies depends on when the purge ran",
		edits: alone("store/sqlite/statements.go", "\n    OR (scheduled_actions.tombstone = 1 AND scheduled_actions.expire_at <= @now)`", "\n    OR (scheduled_actions.tombstone = 2 AND scheduled_actions.expire_at <= @now)`"),
	},
	{
		name: "tombstone-without-end", requirement: "design, The mirror row", tests: conformance,
		why:   "tombstones expire at once",
		edits: alone("store/internal/mirror/columns.go", "c.ExpireAt = now.Add(ttl)", "c.ExpireAt = now.Add(0 * ttl)"),
	},
	{
		name: "due-column-to-the-second", requirement: "M-45", tests: conformance,
		why:   "pages by due time lose rows",
		edits: alone("store/internal/mirror/columns.go", "return at.AsTime().UnixMicro()", "return at.AsTime().Unix() * 1_000_000"),
	},
	{
		name: "page-ends-within-a-tie", requirement: "issue 2, The store", tests: conformance,
		why: "of actions due at one moment the second page lacks those that the first had no room for",
		edits: alone("store/sqlite/statements.go", "`(status_scheduled_at, meta_action_id) > (@after_due, @after_id)`",
			"`status_scheduled_at > @after_due AND @after_id <> ''`"),
	},
	{
		name: "list-shows-tombstones", requirement: "design, The mirror row", tests: conformance,
		why:   "finished actions are listed among the living",
		edits: alone("store/sqlite/statements.go", "whereLives  = `tombstone = 0`", "whereLives  = `tombstone >= 0`"),
	},
}
