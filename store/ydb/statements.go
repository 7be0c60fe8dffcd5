package ydb

// Every statement this package sends is in this file and in migrations/, but for
// those that goose has of its own. A statement that the server runs is the
// installation's prefix, the declarations of its parameters, and one of these.
// Columns are named one by one: what another version adds changes nothing here.

// prefixFormat makes table names relative to the installation's directory (M-48).
const prefixFormat = "PRAGMA TablePathPrefix(\"%s\");\n"

// declareFormat declares a parameter: its name and type.
const declareFormat = "DECLARE %s AS %s;\n"

// columnNames are all columns, in the order of the migration.
const columnNames = `meta_action_id_hash, meta_action_id, meta_action_guid, status_scheduled_at, meta, spec, status, revision, chain, tombstone, expire_at, deleted_by, written_by, state, kind, labels`

// statementPut writes rows: those of put whose revision is newer than what stands, and
// those of insert, the facade's first ones, where nothing stands or over a tombstone of
// another chain, whose revision they keep (design.md, The mirror row). $rows must hold
// one row an id, as an UPSERT of two rows of one key may keep either. An expired
// tombstone does not stand, so that it makes no difference to any write whether it was
// purged.
//
// It answers which rows apply, by their written_by. It reads before it writes, as a
// statement may see the writes of an earlier one. A row that a write of the same number
// stands for has applied: its answer was lost, and this is the repetition.
const statementPut = `
$met = (
    SELECT
        r.meta_action_id_hash AS meta_action_id_hash,
        r.meta_action_id AS meta_action_id,
        r.meta_action_guid AS meta_action_guid,
        r.status_scheduled_at AS status_scheduled_at,
        r.meta AS meta,
        r.spec AS spec,
        r.status AS status,
        CASE
            WHEN NOT r.inserts OR COALESCE(t.expire_at <= $now, false) THEN r.revision
            ELSE COALESCE(t.revision, r.revision)
        END AS revision,
        r.chain AS chain,
        r.tombstone AS tombstone,
        r.expire_at AS expire_at,
        CASE
            WHEN r.deleted_by != ""u OR COALESCE(t.expire_at <= $now, false) THEN r.deleted_by
            ELSE COALESCE(t.deleted_by, r.deleted_by)
        END AS deleted_by,
        r.written_by AS written_by,
        r.state AS state,
        r.kind AS kind,
        r.labels AS labels,
        COALESCE(t.written_by = r.written_by, false) AS applied_before,
        CASE
            WHEN t.revision IS NULL OR COALESCE(t.expire_at <= $now, false) THEN true
            WHEN r.inserts THEN COALESCE(t.tombstone AND t.chain != r.chain, false)
            ELSE COALESCE(r.revision > t.revision, false)
        END AS applies
    FROM AS_TABLE($rows) AS r
    LEFT JOIN scheduled_actions AS t
    ON r.meta_action_id_hash = t.meta_action_id_hash AND r.meta_action_id = t.meta_action_id
);
SELECT written_by FROM $met WHERE applies OR applied_before;
UPSERT INTO scheduled_actions (` + columnNames + `)
SELECT ` + columnNames + ` FROM $met WHERE applies;
`

// statementPurge removes tombstones that have expired, the oldest first, and says
// which. Only tombstones have an expire_at.
const statementPurge = `
$expired = (
    SELECT meta_action_id_hash, meta_action_id
    FROM scheduled_actions VIEW scheduled_actions_by_expire_at
    WHERE expire_at <= $now
    ORDER BY expire_at, meta_action_id_hash, meta_action_id
    LIMIT $limit
);
SELECT meta_action_id_hash, meta_action_id FROM $expired;
DELETE FROM scheduled_actions ON
SELECT meta_action_id_hash, meta_action_id FROM $expired;
`

// rowColumns is what a row is read from; scanRow reads them.
const rowColumns = `meta, spec, status, revision, chain, tombstone, deleted_by`

// whereStands leaves out tombstones that have expired, whereLives all tombstones.
const (
	whereStands = `(NOT tombstone OR expire_at > $now)`
	whereLives  = `NOT tombstone`
)

// statementGet reads the row of one id.
const statementGet = `
SELECT ` + rowColumns + ` FROM scheduled_actions
WHERE meta_action_id_hash = $hash AND meta_action_id = $id AND ` + whereStands + `;
`

// The parts of a list. The page is found in an index alone and only its rows are
// looked up. They come back in no order; the caller has it.
const (
	listPage = `
$page = (
    SELECT meta_action_id_hash, meta_action_id
    FROM scheduled_actions`
	listView  = ` VIEW `
	listWhere = `
    WHERE `
	listEnd = `
    LIMIT $limit
);
SELECT t.meta AS meta, t.spec AS spec, t.status AS status, t.revision AS revision,
    t.chain AS chain, t.tombstone AS tombstone, t.deleted_by AS deleted_by
FROM $page AS p
JOIN scheduled_actions AS t
ON p.meta_action_id_hash = t.meta_action_id_hash AND p.meta_action_id = t.meta_action_id;
`
	viewByScheduledAt = `scheduled_actions_by_scheduled_at`
	viewByID          = `scheduled_actions_by_id`
)

// The conditions and orders of a page.
const (
	whereStates      = `state IN $states`
	whereKinds       = `kind IN $kinds`
	whereLabelFormat = `FIND(labels, $label_%d) IS NOT NULL`
	whereID          = `meta_action_id_hash = $hash AND meta_action_id = $id`
	whereIDFrom      = `meta_action_id >= $id_from`
	whereIDBefore    = `meta_action_id < $id_before`
	whereScheduled   = `status_scheduled_at > $unscheduled`
	whereDueFrom     = `status_scheduled_at >= $due_from`
	whereDueBefore   = `status_scheduled_at < $due_before`
	whereAfterID     = `meta_action_id > $after_id`
	whereBeforeID    = `meta_action_id < $after_id`
	whereAfterDueID  = `(status_scheduled_at, meta_action_id) > ($after_due, $after_id)`
	whereBeforeDueID = `(status_scheduled_at, meta_action_id) < ($after_due, $after_id)`
	whereConjunction = "\n        AND "
	orderByID        = "\n    ORDER BY meta_action_id"
	orderByIDDesc    = "\n    ORDER BY meta_action_id DESC"
	orderByDueID     = "\n    ORDER BY status_scheduled_at, meta_action_id"
	orderByDueIDDesc = "\n    ORDER BY status_scheduled_at DESC, meta_action_id DESC"
)

// statementPing reads the table, so that another database does not count as
// answering.
const statementPing = `
SELECT meta_action_id_hash FROM scheduled_actions LIMIT 1;
`

// statementVersion reads the schema's version without goose, which would create its
// table. It fails where that table is not there.
const statementVersion = `
SELECT MAX(version_id) AS version FROM goose_db_version;
`

// statementVersionTable makes goose's table of versions, as goose would.
const statementVersionTable = `
CREATE TABLE IF NOT EXISTS goose_db_version (
    version_id Uint64,
    is_applied Bool,
    tstamp Timestamp,
    PRIMARY KEY (version_id)
);
`

// statementVersionApplied notes that a version was applied.
const statementVersionApplied = `
UPSERT INTO goose_db_version (version_id, is_applied, tstamp)
SELECT CAST($1 AS Uint64) AS version_id, $2 AS is_applied, CurrentUtcTimestamp() AS tstamp;
`
