-- Scheduled batches of changes (seed 003). Of these the store is the truth.

-- +goose NO TRANSACTION
-- +goose Up
CREATE TABLE IF NOT EXISTS batches (
    id_hash           Uint64 NOT NULL, -- FNV-1a 64 of the id: it leads the key to spread the load
    id                Utf8   NOT NULL,
    uid               Utf8   NOT NULL,
    scheduled_at      Int64  NOT NULL, -- microseconds since 1970 UTC; derived from batch, as state and labels
    state             Int32  NOT NULL, -- number of gnomon.v1.BatchStatus.State
    labels            Utf8   NOT NULL, -- &key=value&key=value& as in a URL's query; empty is none
    revision          Uint64 NOT NULL, -- orders the writes of the head
    fence             Uint64 NOT NULL, -- the attempt that has the turn: round * 2^32 + attempt
    batch             String NOT NULL, -- gnomon.v1.Batch without changes and problems
    problems          String NOT NULL, -- gnomon.v1.BatchProblems
    create_request_id Utf8   NOT NULL,

    -- One index for each order of a list, and one with the state before it.
    INDEX batches_by_scheduled_at GLOBAL SYNC ON (scheduled_at, id) COVER (state, labels),
    INDEX batches_by_state GLOBAL SYNC ON (state, scheduled_at, id) COVER (labels),
    INDEX batches_by_id GLOBAL SYNC ON (id) COVER (scheduled_at, state, labels),

    PRIMARY KEY (id_hash, id)
) WITH (
    AUTO_PARTITIONING_BY_SIZE = ENABLED,
    AUTO_PARTITIONING_BY_LOAD = ENABLED
);
-- Contents whose workflow may not have been started yet: nobody sees them.
CREATE TABLE IF NOT EXISTS staged_batches (
    uid               Utf8      NOT NULL,
    id                Utf8      NOT NULL,
    staged_at         Timestamp NOT NULL,
    batch             String    NOT NULL, -- as in batches
    create_request_id Utf8      NOT NULL,

    INDEX staged_batches_by_staged_at GLOBAL SYNC ON (staged_at),

    PRIMARY KEY (uid)
);
-- The changes of both.
CREATE TABLE IF NOT EXISTS batch_changes (
    uid           Utf8   NOT NULL,
    change_index  Uint32 NOT NULL, -- from 0
    content       String NOT NULL, -- gnomon.v1.Change without its status
    status        String NOT NULL, -- gnomon.v1.ChangeStatus
    fence         Uint64 NOT NULL, -- the attempt that began it last; 0 is none
    lease_expires Int64  NOT NULL, -- microseconds since 1970 UTC; 0 where fence is

    PRIMARY KEY (uid, change_index)
) WITH (
    AUTO_PARTITIONING_BY_SIZE = ENABLED,
    AUTO_PARTITIONING_BY_LOAD = ENABLED
);

-- +goose Down
DROP TABLE batch_changes;
DROP TABLE staged_batches;
DROP TABLE batches;
