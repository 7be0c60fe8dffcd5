package sqlite

// Every statement of node actions and playbooks is in this file; see statements.go.

const (
	nodeActionColumns = `action, revision, request_id, digest`
	playbookColumns   = `playbook, revision, request_id, digest`
)

// A write applies where its revision is newer than what stands, and keeps the request_id
// that it does not name.
const (
	statementPutNodeAction = `
INSERT INTO node_actions (cluster, id, node, playbook, state, created_at, finished_at, revision, request_id, digest, action)
VALUES (@cluster, @id, @node, @playbook, @state, @created_at, @finished_at, @revision, @request_id, @digest, @content)
ON CONFLICT (cluster, id) DO UPDATE SET
    node = excluded.node, playbook = excluded.playbook, state = excluded.state, created_at = excluded.created_at,
    finished_at = excluded.finished_at, revision = excluded.revision, action = excluded.action,
    request_id = iif(excluded.request_id = '', node_actions.request_id, excluded.request_id),
    digest = iif(excluded.request_id = '', node_actions.digest, excluded.digest)
WHERE excluded.revision > node_actions.revision`

	statementNodeAction = `SELECT ` + nodeActionColumns + ` FROM node_actions WHERE cluster = @cluster AND id = @id`

	statementPutPlaybook = `
INSERT INTO playbooks (id, cluster, state, created_at, finished_at, revision, request_id, digest, playbook)
VALUES (@id, @cluster, @state, @created_at, @finished_at, @revision, @request_id, @digest, @content)
ON CONFLICT (id) DO UPDATE SET
    cluster = excluded.cluster, state = excluded.state, created_at = excluded.created_at,
    finished_at = excluded.finished_at, revision = excluded.revision, playbook = excluded.playbook,
    request_id = iif(excluded.request_id = '', playbooks.request_id, excluded.request_id),
    digest = iif(excluded.request_id = '', playbooks.digest, excluded.digest)
WHERE excluded.revision > playbooks.revision`

	statementPlaybook = `SELECT ` + playbookColumns + ` FROM playbooks WHERE id = @id`

	statementPurgeNodeActions = `
DELETE FROM node_actions WHERE (cluster, id) IN (
    SELECT cluster, id FROM node_actions WHERE finished_at < @before ORDER BY finished_at LIMIT @limit)`

	statementPurgePlaybooks = `
DELETE FROM playbooks WHERE id IN (
    SELECT id FROM playbooks WHERE finished_at < @before ORDER BY finished_at LIMIT @limit)`
)

// The conditions of lists, as those of actions in statements.go.
const (
	selectNodeActions  = `SELECT ` + nodeActionColumns + ` FROM node_actions WHERE `
	selectPlaybooks    = `SELECT ` + playbookColumns + ` FROM playbooks WHERE `
	whereAny           = `true`
	whereCluster       = `cluster = @cluster`
	whereNode          = `node = @node`
	wherePlaybook      = `playbook = @playbook`
	whereOneState      = `state = @state`
	whereAfterCreated  = `(created_at, id) > (@after_at, @after_id)`
	whereBeforeCreated = `(created_at, id) < (@after_at, @after_id)`
	orderByCreated     = ` ORDER BY created_at, id LIMIT @limit`
	orderByCreatedDesc = ` ORDER BY created_at DESC, id DESC LIMIT @limit`
)
