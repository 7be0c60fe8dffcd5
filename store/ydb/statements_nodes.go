package ydb

// Every statement of node actions and playbooks is in this file; see statements.go. A
// transaction reads what stands and writes what is newer with its last statement.

const (
	statementNodeRevisions = `
SELECT cluster, id, revision, request_id, digest FROM node_actions WHERE id_hash IN $hashes;
`
	statementPlaybookRevision = `
SELECT revision, request_id, digest FROM playbooks WHERE id_hash = $hash AND id = $id;
`
	upsertNodeActions = `
UPSERT INTO node_actions (id_hash, cluster, id, node, playbook, state, created_at, finished_at, revision, request_id, digest, action)
SELECT id_hash, cluster, id, node, playbook, state, created_at, finished_at, revision, request_id, digest, action FROM AS_TABLE($rows);
`
	upsertPlaybook = `
UPSERT INTO playbooks (id_hash, id, cluster, state, created_at, finished_at, revision, request_id, digest, playbook)
SELECT id_hash, id, cluster, state, created_at, finished_at, revision, request_id, digest, playbook FROM AS_TABLE($rows);
`
	statementNodeAction = `
SELECT action, revision, request_id, digest FROM node_actions WHERE id_hash = $hash AND cluster = $cluster AND id = $id;
`
	statementPlaybook = `
SELECT playbook, revision, request_id, digest FROM playbooks WHERE id_hash = $hash AND id = $id;
`
	statementPurgeNodeActions = `
$old = (
    SELECT id_hash, cluster, id
    FROM node_actions VIEW node_actions_by_finished_at
    WHERE finished_at < $before
    ORDER BY finished_at, id_hash, cluster, id
    LIMIT $limit
);
SELECT id_hash, cluster, id FROM $old;
DELETE FROM node_actions ON
SELECT id_hash, cluster, id FROM $old;
`
	statementPurgePlaybooks = `
$old = (
    SELECT id_hash, id
    FROM playbooks VIEW playbooks_by_finished_at
    WHERE finished_at < $before
    ORDER BY finished_at, id_hash, id
    LIMIT $limit
);
SELECT id_hash, id FROM $old;
DELETE FROM playbooks ON
SELECT id_hash, id FROM $old;
`
)

// The parts of lists, as those of actions in statements.go. created_at and id come along
// to put the rows of the page in order.
const (
	listNodeActions = `
$page = (
    SELECT id_hash, cluster, id
    FROM node_actions`
	listNodeActionsEnd = `
    LIMIT $limit
);
SELECT t.action AS content, t.revision AS revision, t.request_id AS request_id, t.digest AS digest
FROM $page AS p
JOIN node_actions AS t
ON p.id_hash = t.id_hash AND p.cluster = t.cluster AND p.id = t.id;
`
	viewNodeActionsByCreatedAt = `node_actions_by_created_at`
	viewNodeActionsByNode      = `node_actions_by_node`
	viewNodeActionsByPlaybook  = `node_actions_by_playbook`
	viewNodeActionsByState     = `node_actions_by_state`

	listPlaybooks = `
$page = (
    SELECT id_hash, id
    FROM playbooks`
	listPlaybooksEnd = `
    LIMIT $limit
);
SELECT t.playbook AS content, t.revision AS revision, t.request_id AS request_id, t.digest AS digest
FROM $page AS p
JOIN playbooks AS t
ON p.id_hash = t.id_hash AND p.id = t.id;
`
	viewPlaybooksByCreatedAt = `playbooks_by_created_at`
	viewPlaybooksByCluster   = `playbooks_by_cluster`

	whereAny           = `true`
	whereCluster       = `cluster = $cluster`
	whereNode          = `node = $node`
	wherePlaybook      = `playbook = $playbook`
	whereOneState      = `state = $state`
	whereAfterCreated  = `(created_at, id) > ($after_at, $after_id)`
	whereBeforeCreated = `(created_at, id) < ($after_at, $after_id)`
	orderByCreated     = "\n    ORDER BY created_at, id"
	orderByCreatedDesc = "\n    ORDER BY created_at DESC, id DESC"
)
