package ydb

// Every statement of batches is in this file; see statements.go. A transaction reads what
// it decides by and writes with its last statement, which commits.

// headColumns are what scanHead reads, changeColumns what scanChange reads.
const (
	headColumns   = `batch, problems, revision, fence, create_request_id`
	changeColumns = `change_index, content, status, fence, lease_expires`
)

const (
	statementBatch = `
SELECT ` + headColumns + ` FROM batches WHERE id_hash = $hash AND id = $id;
`
	statementStaged = `
SELECT batch, create_request_id FROM staged_batches WHERE uid = $uid;
`
	statementChanges = `
SELECT ` + changeColumns + ` FROM batch_changes WHERE uid = $uid ORDER BY change_index;
`
	statementChange = `
SELECT ` + changeColumns + ` FROM batch_changes WHERE uid = $uid AND change_index = $change_index;
`
	statementOldStaged = `
SELECT uid, staged_at FROM staged_batches VIEW staged_batches_by_staged_at WHERE staged_at < $before ORDER BY staged_at, uid LIMIT $limit;
`
)

// What a transaction writes; several make one script.
const (
	upsertHead = `
UPSERT INTO batches (id_hash, id, uid, scheduled_at, state, labels, revision, fence, batch, problems, create_request_id)
SELECT id_hash, id, uid, scheduled_at, state, labels, revision, fence, batch, problems, create_request_id FROM AS_TABLE($heads);
`
	upsertStaged = `
UPSERT INTO staged_batches (uid, id, staged_at, batch, create_request_id)
SELECT uid, id, staged_at, batch, create_request_id FROM AS_TABLE($staged);
`
	upsertChanges = `
UPSERT INTO batch_changes (uid, change_index, content, status, fence, lease_expires)
SELECT uid, change_index, content, status, fence, lease_expires FROM AS_TABLE($changes);
`
	deleteStaged = `
DELETE FROM staged_batches WHERE uid IN $unstaged;
`
	deleteChanges = `
DELETE FROM batch_changes WHERE uid IN $unstaged;
`
)

// The parts of a list of batches, as those of actions in statements.go.
const (
	listBatches = `
$page = (
    SELECT id_hash, id
    FROM batches`
	listBatchesEnd = `
    LIMIT $limit
);
SELECT t.batch AS batch, t.problems AS problems, t.revision AS revision, t.fence AS fence,
    t.create_request_id AS create_request_id
FROM $page AS p
JOIN batches AS t
ON p.id_hash = t.id_hash AND p.id = t.id;
`
	viewBatchesByScheduledAt = `batches_by_scheduled_at`
	viewBatchesByState       = `batches_by_state`
	viewBatchesByID          = `batches_by_id`

	whereBatch            = `true`
	whereBatchState       = `state = $state`
	whereBatchID          = `id_hash = $hash AND id = $id`
	whereBatchIDFrom      = `id >= $id_from`
	whereBatchIDBefore    = `id < $id_before`
	whereBatchDueFrom     = `scheduled_at >= $due_from`
	whereBatchDueBefore   = `scheduled_at < $due_before`
	whereBatchAfterID     = `id > $after_id`
	whereBatchBeforeID    = `id < $after_id`
	whereBatchAfterDueID  = `(scheduled_at, id) > ($after_due, $after_id)`
	whereBatchBeforeDueID = `(scheduled_at, id) < ($after_due, $after_id)`
	orderBatchesByID      = "\n    ORDER BY id"
	orderBatchesByIDDesc  = "\n    ORDER BY id DESC"
	orderBatchesByDue     = "\n    ORDER BY scheduled_at, id"
	orderBatchesByDueDesc = "\n    ORDER BY scheduled_at DESC, id DESC"
)
