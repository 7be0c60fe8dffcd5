-- Scheduled batches of changes (seed 003). Of these the store is the truth.

-- +goose Up
CREATE TABLE batches (
    id                TEXT    NOT NULL PRIMARY KEY,
    uid               TEXT    NOT NULL,
    scheduled_at      INTEGER NOT NULL, -- microseconds since 1970 UTC; derived from batch, as state and labels
    state             INTEGER NOT NULL, -- number of gnomon.v1.BatchStatus.State
    labels            TEXT    NOT NULL CHECK (json_valid(labels)), -- {"key": "value", ...}
    revision          INTEGER NOT NULL, -- orders the writes of the head
    fence             INTEGER NOT NULL, -- the attempt that has the turn: round * 2^32 + attempt
    batch             BLOB    NOT NULL, -- gnomon.v1.Batch without changes and problems
    problems          BLOB    NOT NULL, -- gnomon.v1.BatchProblems
    create_request_id TEXT    NOT NULL
) STRICT, WITHOUT ROWID;

-- One index for each order of a list, with and without a state.
CREATE INDEX batches_by_scheduled_at ON batches (scheduled_at, id);
CREATE INDEX batches_by_state ON batches (state, scheduled_at, id);

-- Contents whose workflow may not have been started yet: nobody sees them.
CREATE TABLE staged_batches (
    uid               TEXT    NOT NULL PRIMARY KEY,
    id                TEXT    NOT NULL,
    staged_at         INTEGER NOT NULL, -- microseconds since 1970 UTC
    batch             BLOB    NOT NULL, -- as in batches
    create_request_id TEXT    NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX staged_batches_by_staged_at ON staged_batches (staged_at);

-- The changes of both.
CREATE TABLE batch_changes (
    uid           TEXT    NOT NULL,
    change_index  INTEGER NOT NULL, -- from 0
    content       BLOB    NOT NULL, -- gnomon.v1.Change without its status
    status        BLOB    NOT NULL, -- gnomon.v1.ChangeStatus
    fence         INTEGER NOT NULL, -- the attempt that began it last; 0: none
    lease_expires INTEGER NOT NULL, -- microseconds since 1970 UTC; 0 where fence is
    PRIMARY KEY (uid, change_index)
) STRICT, WITHOUT ROWID;

-- +goose Down
DROP TABLE batch_changes;
DROP TABLE staged_batches;
DROP TABLE batches;
