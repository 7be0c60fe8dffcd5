-- The mirror of scheduled actions (seed 001, scheduled_actions; M-45).
-- Temporal is the truth: this table may lag, and it may be dropped and rebuilt.

-- +goose NO TRANSACTION
-- +goose Up
CREATE TABLE IF NOT EXISTS scheduled_actions (
    -- The columns of seed 001. All but the last three are derived from those three
    -- in the same write, so that queries need not parse protobufs.
    meta_action_id_hash Uint64 NOT NULL, -- FNV-1a 64 of the id: it leads the key to spread the load
    meta_action_id      Utf8   NOT NULL,
    meta_action_guid    Utf8   NOT NULL,
    status_scheduled_at Int64  NOT NULL, -- microseconds since 1970 UTC; -62135596800000000 (year 1) is none; Timestamp ends in 2105
    meta                String,          -- gnomon.v1.Meta
    spec                String,          -- gnomon.v1.Spec
    status              String,          -- gnomon.v1.Status

    -- What orders the writes of one id and keeps late ones out (M-61).
    revision            Utf8   NOT NULL, -- store.Revision.Encode: its order as text is the order of the writes
    chain               Utf8   NOT NULL, -- first run of the incarnation's workflow
    tombstone           Bool   NOT NULL,
    expire_at           Timestamp,       -- of a tombstone only
    deleted_by          Utf8   NOT NULL, -- request_id of the last deletion of this id; empty is none
    written_by          Uint64 NOT NULL, -- random number of the write, by which its repetition knows that it has applied

    -- More columns to filter by, derived as above.
    state               Int32  NOT NULL, -- number of gnomon.v1.Status.State
    kind                Utf8   NOT NULL, -- case of gnomon.v1.Action; empty is none
    labels              Utf8   NOT NULL, -- &key=value&key=value& as in a URL's query; empty is none

    -- One index for each order of a list; descending reads them backwards. Each holds
    -- what lists filter by, so that only the rows of the page are looked up. They are
    -- synchronous: who creates an action and lists sees it, and a list is a snapshot.
    INDEX scheduled_actions_by_scheduled_at GLOBAL SYNC ON (status_scheduled_at, meta_action_id)
        COVER (tombstone, expire_at, state, kind, labels),
    INDEX scheduled_actions_by_id GLOBAL SYNC ON (meta_action_id)
        COVER (status_scheduled_at, tombstone, expire_at, state, kind, labels),
    -- For the purge, which deletes what it reads there and so must not read late.
    INDEX scheduled_actions_by_expire_at GLOBAL SYNC ON (expire_at),

    PRIMARY KEY (meta_action_id_hash, meta_action_id)
) WITH (
    AUTO_PARTITIONING_BY_SIZE = ENABLED,
    AUTO_PARTITIONING_BY_LOAD = ENABLED,
    AUTO_PARTITIONING_MIN_PARTITIONS_COUNT = 4,
    UNIFORM_PARTITIONS = 4,
    -- An hour later than queries stop showing them, so that no clock that is fast
    -- removes what still stands by that of another.
    TTL = Interval("PT1H") ON expire_at
);

-- +goose Down
DROP TABLE scheduled_actions;
