-- The mirror of node actions and playbooks (seed 002). Temporal is the truth of what is
-- unfinished.

-- +goose Up
CREATE TABLE node_actions (
    cluster    TEXT    NOT NULL,
    id         TEXT    NOT NULL,
    node       TEXT    NOT NULL, -- derived from action, as playbook, state and created_at
    playbook   TEXT    NOT NULL, -- empty is none
    state      INTEGER NOT NULL, -- number of gnomon.v1.NodeAction.State
    created_at INTEGER NOT NULL, -- microseconds since 1970 UTC
    finished_at INTEGER,         -- as created_at; NULL while it is unfinished
    revision   TEXT    NOT NULL, -- store.Revision.Encode: its order as text is the order of the writes
    request_id TEXT    NOT NULL, -- what it was scheduled by; empty is none
    digest     TEXT    NOT NULL, -- tells what that asked for
    action     BLOB    NOT NULL, -- gnomon.v1.NodeAction
    PRIMARY KEY (cluster, id)
) STRICT, WITHOUT ROWID;

-- One index for each filter that leaves few of a cluster's actions.
CREATE INDEX node_actions_by_created_at ON node_actions (cluster, created_at, id);
CREATE INDEX node_actions_by_node ON node_actions (cluster, node, created_at, id);
CREATE INDEX node_actions_by_playbook ON node_actions (cluster, playbook, created_at, id);
CREATE INDEX node_actions_by_state ON node_actions (cluster, state, created_at, id);
-- For the purge.
CREATE INDEX node_actions_by_finished_at ON node_actions (finished_at) WHERE finished_at IS NOT NULL;

CREATE TABLE playbooks (
    id         TEXT    NOT NULL PRIMARY KEY,
    cluster    TEXT    NOT NULL, -- derived from playbook, as state and created_at
    state      INTEGER NOT NULL, -- number of gnomon.v1.PlaybookStatus.State
    created_at INTEGER NOT NULL, -- as in node_actions, to digest
    finished_at INTEGER,
    revision   TEXT    NOT NULL,
    request_id TEXT    NOT NULL,
    digest     TEXT    NOT NULL,
    playbook   BLOB    NOT NULL  -- gnomon.v1.Playbook
) STRICT, WITHOUT ROWID;

CREATE INDEX playbooks_by_created_at ON playbooks (created_at, id);
CREATE INDEX playbooks_by_cluster ON playbooks (cluster, created_at, id);
CREATE INDEX playbooks_by_finished_at ON playbooks (finished_at) WHERE finished_at IS NOT NULL;

-- +goose Down
DROP TABLE playbooks;
DROP TABLE node_actions;
