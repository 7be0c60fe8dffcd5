package sqlite

// Every statement this package sends is in this file. Parameters are named, so
// that an expression that occurs twice is bound once.

// upsertColumns begins every write: a row with all its helper columns.
const upsertColumns = `
INSERT INTO scheduled_actions (
    meta_action_id_hash, meta_action_id, meta_action_guid, status_scheduled_at,
    meta, spec, status, revision, chain, tombstone, expire_at, deleted_by, state, kind, labels
) VALUES (
    @hash, @id, @guid, @scheduled_at,
    @meta, @spec, @status, @revision, @chain, @tombstone, @expire_at, @deleted_by, @state, @kind, @labels
)
ON CONFLICT (meta_action_id_hash, meta_action_id) DO UPDATE SET
    meta_action_guid = excluded.meta_action_guid,
    status_scheduled_at = excluded.status_scheduled_at,
    meta = excluded.meta,
    spec = excluded.spec,
    status = excluded.status,
    chain = excluded.chain,
    tombstone = excluded.tombstone,
    expire_at = excluded.expire_at,
    deleted_by = CASE WHEN excluded.deleted_by <> '' OR scheduled_actions.expire_at <= @now
        THEN excluded.deleted_by ELSE scheduled_actions.deleted_by END,
    state = excluded.state,
    kind = excluded.kind,
    labels = excluded.labels,`

// An expired tombstone does not stand, so that it makes no difference to any
// write whether it has been purged yet.

// statementPut writes a row whose revision is newer than what stands.
const statementPut = upsertColumns + `
    revision = excluded.revision
WHERE excluded.revision > scheduled_actions.revision
    OR (scheduled_actions.tombstone = 1 AND scheduled_actions.expire_at <= @now)`

// statementInsert writes the facade's first row: where nothing stands, or over a
// tombstone of another chain, whose revision it keeps (design.md, The mirror row).
const statementInsert = upsertColumns + `
    revision = CASE WHEN scheduled_actions.expire_at <= @now
        THEN excluded.revision ELSE scheduled_actions.revision END
WHERE scheduled_actions.tombstone = 1
    AND (scheduled_actions.expire_at <= @now OR scheduled_actions.chain <> excluded.chain)`

// statementPurge removes tombstones that have expired, the oldest first.
const statementPurge = `
DELETE FROM scheduled_actions WHERE rowid IN (
    SELECT rowid FROM scheduled_actions
    WHERE tombstone = 1 AND expire_at <= @now
    ORDER BY expire_at LIMIT @limit
)`

// selectRow begins every read; scanRow reads what it gives.
const selectRow = `
SELECT meta, spec, status, revision, chain, tombstone, deleted_by FROM scheduled_actions WHERE `

// whereStands leaves out tombstones that have expired, whereLives all tombstones.
const (
	whereStands = `(tombstone = 0 OR expire_at > @now)`
	whereLives  = `tombstone = 0`
)

// statementGet reads the row of one id.
const statementGet = selectRow +
	`meta_action_id_hash = @hash AND meta_action_id = @id AND ` + whereStands

// The conditions of a list. Lists of values are bound as JSON, so that their
// length makes no new statement.
const (
	whereStates      = `state IN (SELECT value FROM json_each(@states))`
	whereKinds       = `kind IN (SELECT value FROM json_each(@kinds))`
	whereHash        = `meta_action_id_hash = @hash`
	whereID          = `meta_action_id = @id`
	whereIDFrom      = `meta_action_id >= @id_from`
	whereIDBefore    = `meta_action_id < @id_before`
	whereDueFrom     = `status_scheduled_at >= @due_from`
	whereDueBefore   = `status_scheduled_at < @due_before`
	whereAfterID     = `meta_action_id > @after_id`
	whereBeforeID    = `meta_action_id < @after_id`
	whereAfterDueID  = `(status_scheduled_at, meta_action_id) > (@after_due, @after_id)`
	whereBeforeDueID = `(status_scheduled_at, meta_action_id) < (@after_due, @after_id)`
	whereLabels      = `NOT EXISTS (SELECT 1 FROM json_each(@labels) AS wanted WHERE NOT EXISTS (SELECT 1 FROM json_each(scheduled_actions.labels) AS had WHERE had.key = wanted.key AND had.value = wanted.value))`
	orderByID        = ` ORDER BY meta_action_id LIMIT @limit`
	orderByIDDesc    = ` ORDER BY meta_action_id DESC LIMIT @limit`
	orderByDueID     = ` ORDER BY status_scheduled_at, meta_action_id LIMIT @limit`
	orderByDueIDDesc = ` ORDER BY status_scheduled_at DESC, meta_action_id DESC LIMIT @limit`
	whereConjunction = ` AND `
)

// statementPing reads the table, so that a file that is no database, or another
// one, does not count as answering.
const statementPing = `SELECT count(*) FROM (SELECT 1 FROM scheduled_actions LIMIT 1)`

// The schema's version, read without goose, which would create its table.
const (
	statementHasVersions = `SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'goose_db_version'`
	statementVersion     = `SELECT coalesce(max(version_id), 0) FROM goose_db_version`
)
