package sqlite

// Every statement of batches is in this file; see statements.go.

// headColumns are what scanHead reads.
const headColumns = `batch, problems, revision, fence, create_request_id`

const (
	statementBatch = `SELECT ` + headColumns + ` FROM batches WHERE id = @id`

	statementInsertBatch = `
INSERT INTO batches (id, uid, scheduled_at, state, labels, revision, fence, batch, problems, create_request_id)
VALUES (@id, @uid, @scheduled_at, @state, @labels, @revision, @fence, @batch, @problems, @create_request_id)`

	statementUpdateBatch = `
UPDATE batches SET scheduled_at = @scheduled_at, state = @state, labels = @labels, revision = @revision,
    fence = @fence, batch = @batch, problems = @problems
WHERE id = @id AND uid = @uid`
)

const (
	statementStaged = `SELECT batch, create_request_id FROM staged_batches WHERE uid = @uid`

	statementStage = `
INSERT INTO staged_batches (uid, id, staged_at, batch, create_request_id)
VALUES (@uid, @id, @staged_at, @batch, @create_request_id)`

	statementUnstage = `DELETE FROM staged_batches WHERE uid = @uid`

	statementOldStaged = `SELECT uid FROM staged_batches WHERE staged_at < @before ORDER BY staged_at LIMIT @limit`
)

// changeColumns are what scanChange reads.
const changeColumns = `change_index, content, status, fence, lease_expires`

const (
	statementHasChanges = `SELECT count(*) FROM batch_changes WHERE uid = @uid AND change_index = 0`

	statementChanges = `SELECT ` + changeColumns + ` FROM batch_changes WHERE uid = @uid ORDER BY change_index`

	statementChange = `SELECT ` + changeColumns + ` FROM batch_changes WHERE uid = @uid AND change_index = @change_index`

	statementInsertChange = `
INSERT INTO batch_changes (uid, change_index, content, status, fence, lease_expires)
VALUES (@uid, @change_index, @content, @status, @fence, @lease_expires)`

	statementUpdateChange = `
UPDATE batch_changes SET status = @status, fence = @fence, lease_expires = @lease_expires
WHERE uid = @uid AND change_index = @change_index`

	statementDeleteChanges = `DELETE FROM batch_changes WHERE uid = @uid`
)

// The conditions of a list of batches, as those of actions in statements.go.
const (
	selectBatches         = `SELECT ` + headColumns + ` FROM batches WHERE `
	whereBatch            = `true`
	whereBatchState       = `state = @state`
	whereBatchID          = `id = @id`
	whereBatchIDFrom      = `id >= @id_from`
	whereBatchIDBefore    = `id < @id_before`
	whereBatchDueFrom     = `scheduled_at >= @due_from`
	whereBatchDueBefore   = `scheduled_at < @due_before`
	whereBatchAfterID     = `id > @after_id`
	whereBatchBeforeID    = `id < @after_id`
	whereBatchAfterDueID  = `(scheduled_at, id) > (@after_due, @after_id)`
	whereBatchBeforeDueID = `(scheduled_at, id) < (@after_due, @after_id)`
	whereBatchLabels      = `NOT EXISTS (SELECT 1 FROM json_each(@labels) AS wanted WHERE NOT EXISTS (SELECT 1 FROM json_each(batches.labels) AS had WHERE had.key = wanted.key AND had.value = wanted.value))`
	orderBatchesByID      = ` ORDER BY id LIMIT @limit`
	orderBatchesByIDDesc  = ` ORDER BY id DESC LIMIT @limit`
	orderBatchesByDue     = ` ORDER BY scheduled_at, id LIMIT @limit`
	orderBatchesByDueDesc = ` ORDER BY scheduled_at DESC, id DESC LIMIT @limit`
)
