-- The mirror of node actions and playbooks (seed 002). Temporal is the truth of what is
-- unfinished.

-- +goose NO TRANSACTION
-- +goose Up
CREATE TABLE IF NOT EXISTS node_actions (
    id_hash    Uint64 NOT NULL, -- FNV-1a 64 of cluster/id: it leads the key to spread the load
    cluster    Utf8   NOT NULL,
    id         Utf8   NOT NULL,
    node       Utf8   NOT NULL, -- derived from action, as playbook, state and created_at
    playbook   Utf8   NOT NULL, -- empty is none
    state      Int32  NOT NULL, -- number of gnomon.v1.NodeAction.State
    created_at Int64  NOT NULL, -- microseconds since 1970 UTC
    finished_at Int64,          -- as created_at; NULL while it is unfinished
    revision   Utf8   NOT NULL, -- store.Revision.Encode: its order as text is the order of the writes
    request_id Utf8   NOT NULL, -- what it was scheduled by; empty is none
    digest     Utf8   NOT NULL, -- tells what that asked for
    action     String NOT NULL, -- gnomon.v1.NodeAction

    -- One index for each filter that leaves few of a cluster's actions.
    INDEX node_actions_by_created_at GLOBAL SYNC ON (cluster, created_at, id) COVER (node, playbook, state),
    INDEX node_actions_by_node GLOBAL SYNC ON (cluster, node, created_at, id) COVER (playbook, state),
    INDEX node_actions_by_playbook GLOBAL SYNC ON (cluster, playbook, created_at, id) COVER (node, state),
    INDEX node_actions_by_state GLOBAL SYNC ON (cluster, state, created_at, id) COVER (node, playbook),
    -- For the purge, which deletes what it reads there and so must not read late.
    INDEX node_actions_by_finished_at GLOBAL SYNC ON (finished_at, id_hash, cluster, id),

    PRIMARY KEY (id_hash, cluster, id)
) WITH (
    AUTO_PARTITIONING_BY_SIZE = ENABLED,
    AUTO_PARTITIONING_BY_LOAD = ENABLED
);
CREATE TABLE IF NOT EXISTS playbooks (
    id_hash    Uint64 NOT NULL, -- FNV-1a 64 of the id
    id         Utf8   NOT NULL,
    cluster    Utf8   NOT NULL, -- derived from playbook, as state and created_at
    state      Int32  NOT NULL, -- number of gnomon.v1.PlaybookStatus.State
    created_at Int64  NOT NULL, -- as in node_actions, to digest
    finished_at Int64,
    revision   Utf8   NOT NULL,
    request_id Utf8   NOT NULL,
    digest     Utf8   NOT NULL,
    playbook   String NOT NULL, -- gnomon.v1.Playbook

    INDEX playbooks_by_created_at GLOBAL SYNC ON (created_at, id) COVER (cluster, state),
    INDEX playbooks_by_cluster GLOBAL SYNC ON (cluster, created_at, id) COVER (state),
    INDEX playbooks_by_finished_at GLOBAL SYNC ON (finished_at, id_hash, id),

    PRIMARY KEY (id_hash, id)
) WITH (
    AUTO_PARTITIONING_BY_SIZE = ENABLED,
    AUTO_PARTITIONING_BY_LOAD = ENABLED
);

-- +goose Down
DROP TABLE playbooks;
DROP TABLE node_actions;
