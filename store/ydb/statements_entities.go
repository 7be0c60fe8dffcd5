package ydb

// Every statement of entities is in this file; see statements.go. A transaction reads
// what it decides by and writes with its last statement, which commits.

// whereEntity is the key of an entity, entityKey what the key is made of.
const (
	whereEntity = ` WHERE id_hash = $hash AND entity_type = $type AND entity_id = $id`
	entityKey   = `id_hash, entity_type, entity_id`
)

// What is read of one entity.
const (
	statementEntity = `
SELECT version, deleted, sequence, commit_id, entity FROM entities` + whereEntity + `;
`
	statementTurn = `
SELECT holder, until_at FROM entity_turns` + whereEntity + `;
`
	statementStates = `
SELECT stage, gone, state, visit_id, result FROM stage_states` + whereEntity + `;
`
	statementState = `
SELECT stage, gone, state, visit_id, result FROM stage_states` + whereEntity + ` AND stage = $stage;
`
	statementRequest = `
SELECT digest, used_at, entity, changed, fields FROM entity_requests` + whereEntity + ` AND request_id = $request_id;
`
	statementUnpublished = `
SELECT sequence, record FROM entity_records` + whereEntity + ` ORDER BY sequence LIMIT $limit;
`
	statementQueueRevision = `
SELECT revision FROM queue_revisions` + whereEntity + `;
`
	statementQueued = `
SELECT stage FROM stage_queue` + whereEntity + `;
`
)

// What a transaction writes; several make one script.
const (
	upsertEntity = `
UPSERT INTO entities (` + entityKey + `, version, deleted, sequence, commit_id, entity)
SELECT ` + entityKey + `, version, deleted, sequence, commit_id, entity FROM AS_TABLE($entities);
`
	upsertTurn = `
UPSERT INTO entity_turns (` + entityKey + `, holder, until_at)
SELECT ` + entityKey + `, holder, until_at FROM AS_TABLE($turns);
`
	deleteTurn = `
DELETE FROM entity_turns` + whereEntity + ` AND holder = $holder;
`
	upsertStates = `
UPSERT INTO stage_states (` + entityKey + `, stage, gone, state, visit_id, result)
SELECT ` + entityKey + `, stage, gone, state, visit_id, result FROM AS_TABLE($states);
`
	upsertRecord = `
UPSERT INTO entity_records (` + entityKey + `, sequence, committed_at, record)
SELECT ` + entityKey + `, sequence, committed_at, record FROM AS_TABLE($records);
`
	deleteRecords = `
DELETE FROM entity_records` + whereEntity + ` AND sequence <= $sequence;
`
	upsertRequest = `
UPSERT INTO entity_requests (` + entityKey + `, request_id, digest, used_at, entity, changed, fields)
SELECT ` + entityKey + `, request_id, digest, used_at, entity, changed, fields FROM AS_TABLE($requests);
`
	deleteRequests = `
DELETE FROM entity_requests ON SELECT ` + entityKey + `, request_id FROM AS_TABLE($purged);
`
	upsertQueueRevision = `
UPSERT INTO queue_revisions (` + entityKey + `, revision)
SELECT ` + entityKey + `, revision FROM AS_TABLE($revisions);
`
	deleteQueued = `
DELETE FROM stage_queue ON SELECT ` + entityKey + `, stage FROM AS_TABLE($left);
`
	upsertQueued = `
UPSERT INTO stage_queue (` + entityKey + `, stage, enqueued_at, background)
SELECT ` + entityKey + `, stage, enqueued_at, background FROM AS_TABLE($entered);
`
	upsertSlot = `
UPSERT INTO stage_slots (stage, holder, until_at)
SELECT stage, holder, until_at FROM AS_TABLE($slots);
`
	deleteSlot = `
DELETE FROM stage_slots WHERE stage = $stage AND holder = $holder;
`
	deleteSlots = `
DELETE FROM stage_slots ON SELECT stage, holder FROM AS_TABLE($released);
`
	upsertRewalk = `
UPSERT INTO rewalks (stage, revision, rewalk)
SELECT stage, revision, rewalk FROM AS_TABLE($rewalks);
`
)

// What is read of many. What rows are ordered by comes along, to put the page in order
// again.
const (
	statementListEntities = `
$page = (
    SELECT ` + entityKey + `
    FROM entities VIEW entities_by_id
    WHERE entity_type = $type AND deleted = false AND entity_id > $after
    ORDER BY entity_id
    LIMIT $limit
);
SELECT t.entity AS entity
FROM $page AS p
JOIN entities AS t
ON p.id_hash = t.id_hash AND p.entity_type = t.entity_type AND p.entity_id = t.entity_id;
`
	statementCountEntities = `
SELECT COUNT(*) AS entities FROM entities VIEW entities_by_id WHERE entity_type = $type AND deleted = false;
`
	// Of an entity with many records its first row is enough: the next one is sought behind
	// its key.
	statementForgotten = `
$page = (
    SELECT ` + entityKey + `
    FROM entity_records VIEW entity_records_by_committed_at
    WHERE (entity_type, entity_id) > ($type, $id) AND committed_at < $before
    ORDER BY entity_type, entity_id
    LIMIT $limit
);
SELECT t.entity_type AS entity_type, t.entity_id AS entity_id, t.version AS version
FROM $page AS p
JOIN entities AS t
ON p.id_hash = t.id_hash AND p.entity_type = t.entity_type AND p.entity_id = t.entity_id;
`
	statementOldRequests = `
SELECT ` + entityKey + `, request_id, used_at FROM entity_requests VIEW entity_requests_by_used_at
WHERE used_at < $before ORDER BY used_at LIMIT $limit;
`
	statementPeek = `
SELECT entity_type, entity_id, enqueued_at, background FROM stage_queue VIEW stage_queue_by_enqueued_at
WHERE stage = $stage`
	wherePeekAfter = ` AND (enqueued_at, entity_type, entity_id) > ($after_at, $after_type, $after_id)`
	orderPeek      = `
ORDER BY enqueued_at, entity_type, entity_id LIMIT $limit;
`
	statementSlots = `
SELECT holder, until_at FROM stage_slots WHERE stage = $stage;
`
	statementRewalk = `
SELECT revision, rewalk FROM rewalks WHERE stage = $stage;
`
)
