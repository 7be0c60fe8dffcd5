-- The mirror of scheduled actions (seed 001, scheduled_actions; M-45).
-- Temporal is the truth: this table may lag, and it may be dropped and rebuilt.

-- +goose Up
CREATE TABLE scheduled_actions (
    -- The columns of seed 001. All but the last three are derived from those
    -- three in the same write, so that queries need not parse protobufs.
    meta_action_id_hash INTEGER NOT NULL, -- FNV-1a 64 of the id, as a signed number
    meta_action_id      TEXT    NOT NULL,
    meta_action_guid    TEXT    NOT NULL,
    status_scheduled_at INTEGER NOT NULL, -- microseconds since 1970 UTC; -62135596800000000 (year 1): none
    meta                BLOB    NOT NULL, -- gnomon.v1.Meta
    spec                BLOB,             -- gnomon.v1.Spec
    status              BLOB,             -- gnomon.v1.Status

    -- What orders the writes of one id and keeps late ones out (M-61).
    revision            TEXT    NOT NULL, -- store.Revision.Encode: its order as text is the order of the writes
    chain               TEXT    NOT NULL, -- first run of the incarnation's workflow
    tombstone           INTEGER NOT NULL CHECK (tombstone IN (0, 1)),
    expire_at           INTEGER,          -- of a tombstone: microseconds since 1970 UTC
    deleted_by          TEXT    NOT NULL, -- request_id of the last deletion of this id; empty: none

    -- More columns to filter by, derived as above.
    state               INTEGER NOT NULL, -- number of gnomon.v1.Status.State
    kind                TEXT    NOT NULL, -- case of gnomon.v1.Action; empty: none
    labels              TEXT    NOT NULL CHECK (json_valid(labels)), -- {"key": "value", ...}

    PRIMARY KEY (meta_action_id_hash, meta_action_id),
    CHECK ((tombstone = 1) = (expire_at IS NOT NULL))
) STRICT;

-- One index for each order of a list; descending reads them backwards.
CREATE INDEX scheduled_actions_by_scheduled_at ON scheduled_actions (status_scheduled_at, meta_action_id);
CREATE INDEX scheduled_actions_by_id ON scheduled_actions (meta_action_id);
-- For the purge; holds nothing for the living.
CREATE INDEX scheduled_actions_by_expire_at ON scheduled_actions (expire_at) WHERE tombstone = 1;

-- +goose Down
DROP TABLE scheduled_actions;
