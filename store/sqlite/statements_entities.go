package sqlite

// Every statement of entities is in this file; see statements.go.

// whereEntity is the key of an entity.
const whereEntity = ` WHERE entity_type = @type AND entity_id = @id`

const (
	statementEntity = `SELECT version, deleted, sequence, commit_id, entity FROM entities` + whereEntity

	statementPutEntity = `
INSERT INTO entities (entity_type, entity_id, version, deleted, sequence, commit_id, entity)
VALUES (@type, @id, @version, @deleted, @sequence, @commit_id, @entity)
ON CONFLICT (entity_type, entity_id) DO UPDATE SET
    version = excluded.version, deleted = excluded.deleted, sequence = excluded.sequence,
    commit_id = excluded.commit_id, entity = excluded.entity`

	statementListEntities = `
SELECT entity FROM entities INDEXED BY entities_living
WHERE entity_type = @type AND deleted = 0 AND entity_id > @after ORDER BY entity_id LIMIT @limit`

	statementCountEntities = `SELECT count(*) FROM entities INDEXED BY entities_living WHERE entity_type = @type AND deleted = 0`
)

const (
	statementTurn = `SELECT holder, until_at FROM entity_turns` + whereEntity

	statementPutTurn = `
INSERT INTO entity_turns (entity_type, entity_id, holder, until_at) VALUES (@type, @id, @holder, @until)
ON CONFLICT (entity_type, entity_id) DO UPDATE SET holder = excluded.holder, until_at = excluded.until_at`

	statementEndTurn = `DELETE FROM entity_turns` + whereEntity + ` AND holder = @holder`
)

const (
	statementStates = `SELECT stage, gone, state, visit_id, result FROM stage_states` + whereEntity

	statementState = statementStates + ` AND stage = @stage`

	statementPutState = `
INSERT INTO stage_states (entity_type, entity_id, stage, gone, state, visit_id, result)
VALUES (@type, @id, @stage, @gone, @state, @visit_id, @result)
ON CONFLICT (entity_type, entity_id, stage) DO UPDATE SET
    gone = excluded.gone, state = excluded.state, visit_id = excluded.visit_id, result = excluded.result`
)

const (
	statementPutRecord = `
INSERT INTO entity_records (entity_type, entity_id, sequence, committed_at, record)
VALUES (@type, @id, @sequence, @committed_at, @record)`

	statementUnpublished = `SELECT record FROM entity_records` + whereEntity + ` ORDER BY sequence LIMIT @limit`

	statementPublished = `DELETE FROM entity_records` + whereEntity + ` AND sequence <= @sequence`

	// Of an entity with many records its first row is enough: the next one is sought behind
	// its key.
	statementForgotten = `
SELECT r.entity_type, r.entity_id, e.version
FROM entity_records AS r INDEXED BY entity_records_by_committed_at
JOIN entities AS e ON e.entity_type = r.entity_type AND e.entity_id = r.entity_id
WHERE (r.entity_type, r.entity_id) > (@type, @id) AND r.committed_at < @before
ORDER BY r.entity_type, r.entity_id LIMIT @limit`
)

const (
	statementRequest = `SELECT digest, used_at, entity, changed, fields FROM entity_requests` + whereEntity + ` AND request_id = @request_id`

	statementPutRequest = `
INSERT INTO entity_requests (entity_type, entity_id, request_id, digest, used_at, entity, changed, fields)
VALUES (@type, @id, @request_id, @digest, @used_at, @entity, @changed, @fields)`

	statementPurgeRequests = `
DELETE FROM entity_requests WHERE rowid IN (
    SELECT rowid FROM entity_requests WHERE used_at < @before ORDER BY used_at LIMIT @limit
)`
)

const (
	statementQueueRevision = `SELECT revision FROM queue_revisions` + whereEntity

	statementPutQueueRevision = `
INSERT INTO queue_revisions (entity_type, entity_id, revision) VALUES (@type, @id, @revision)
ON CONFLICT (entity_type, entity_id) DO UPDATE SET revision = excluded.revision`

	statementLeaveQueues = `DELETE FROM stage_queue` + whereEntity

	statementEnqueue = `
INSERT INTO stage_queue (stage, enqueued_at, entity_type, entity_id, background)
VALUES (@stage, @enqueued_at, @type, @id, @background)`

	statementPeek = `SELECT entity_type, entity_id, enqueued_at, background FROM stage_queue WHERE stage = @stage`

	wherePeekAfter = ` AND (enqueued_at, entity_type, entity_id) > (@after_at, @after_type, @after_id)`

	orderPeek = ` ORDER BY enqueued_at, entity_type, entity_id LIMIT @limit`
)

const (
	statementSlots = `SELECT holder, until_at FROM stage_slots WHERE stage = @stage`

	statementPutSlot = `
INSERT INTO stage_slots (stage, holder, until_at) VALUES (@stage, @holder, @until)
ON CONFLICT (stage, holder) DO UPDATE SET until_at = excluded.until_at`

	statementReleaseSlot = `DELETE FROM stage_slots WHERE stage = @stage AND holder = @holder`
)

const (
	statementRewalk = `SELECT rewalk FROM rewalks WHERE stage = @stage`

	statementPutRewalk = `
INSERT INTO rewalks (stage, revision, rewalk) VALUES (@stage, @revision, @rewalk)
ON CONFLICT (stage) DO UPDATE SET revision = excluded.revision, rewalk = excluded.rewalk
WHERE excluded.revision > rewalks.revision`
)
