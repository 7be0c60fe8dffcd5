-- +goose Up
CREATE TABLE actions (
    id       TEXT PRIMARY KEY,
    created  INTEGER NOT NULL, -- microseconds since 1970, the order of execution
    state    INTEGER NOT NULL, -- gnomon.v1.NodeAction.State
    finished INTEGER,          -- microseconds since 1970, NULL while it has not
    change   INTEGER NOT NULL, -- number of its last change, unique
    process  TEXT NOT NULL DEFAULT '', -- what to stop if it is found running at start
    record   BLOB NOT NULL     -- gnomon.v1.NodeAction
) STRICT;

CREATE UNIQUE INDEX actions_change ON actions (change);
CREATE INDEX actions_unfinished ON actions (created, id) WHERE finished IS NULL;
CREATE INDEX actions_finished ON actions (finished, id) WHERE finished IS NOT NULL;

-- Ids that must not be begun any more: of records that were purged, and of actions
-- that were cancelled before they came.
CREATE TABLE closed (
    id     TEXT PRIMARY KEY,
    closed INTEGER NOT NULL,
    state  INTEGER NOT NULL, -- LOST or CANCELLED: what the action is that comes late
    reason TEXT NOT NULL
) STRICT;

CREATE INDEX closed_closed ON closed (closed);

CREATE TABLE queue (
    one         INTEGER PRIMARY KEY CHECK (one = 1),
    incarnation TEXT NOT NULL,
    last_change INTEGER NOT NULL
) STRICT;

-- +goose Down
DROP TABLE queue;
DROP TABLE closed;
DROP TABLE actions;
