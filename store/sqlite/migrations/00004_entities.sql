-- Entities, the states of their stages and what is to be published (seed 004). Of these
-- the store is the truth.

-- +goose Up
CREATE TABLE entities (
    entity_type TEXT    NOT NULL,
    entity_id   TEXT    NOT NULL,
    version     INTEGER NOT NULL, -- as in entity; goes on after a deletion
    deleted     INTEGER NOT NULL, -- 1: it has no content and is seen by nobody
    sequence    INTEGER NOT NULL, -- of its last record
    commit_id   TEXT    NOT NULL, -- of its last record
    entity      BLOB    NOT NULL, -- gnomon.v1.Entity
    PRIMARY KEY (entity_type, entity_id)
) STRICT;

CREATE INDEX entities_living ON entities (entity_type, entity_id) WHERE deleted = 0;

-- Who works on an entity: one visit at a time (G-25).
CREATE TABLE entity_turns (
    entity_type TEXT    NOT NULL,
    entity_id   TEXT    NOT NULL,
    holder      TEXT    NOT NULL,
    until_at    INTEGER NOT NULL, -- microseconds since 1970 UTC
    PRIMARY KEY (entity_type, entity_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE stage_states (
    entity_type TEXT    NOT NULL,
    entity_id   TEXT    NOT NULL,
    stage       TEXT    NOT NULL,
    gone        INTEGER NOT NULL, -- 1: the entity was deleted; only the version goes on
    state       BLOB    NOT NULL, -- gnomon.v1.StageState
    visit_id    TEXT    NOT NULL, -- the stage's last commit; empty is none
    result      BLOB    NOT NULL, -- gnomon.workflow.v1.VisitResult of that
    PRIMARY KEY (entity_type, entity_id, stage)
) STRICT;

-- The outbox: what was committed and is not published yet (G-12).
CREATE TABLE entity_records (
    entity_type  TEXT    NOT NULL,
    entity_id    TEXT    NOT NULL,
    sequence     INTEGER NOT NULL,
    committed_at INTEGER NOT NULL, -- microseconds since 1970 UTC
    record       BLOB    NOT NULL, -- gnomon.v1.SavedRecord
    PRIMARY KEY (entity_type, entity_id, sequence)
) STRICT;

CREATE INDEX entity_records_by_committed_at ON entity_records (entity_type, entity_id, committed_at);

CREATE TABLE entity_requests (
    entity_type TEXT    NOT NULL,
    entity_id   TEXT    NOT NULL,
    request_id  TEXT    NOT NULL,
    digest      TEXT    NOT NULL, -- tells what it asked for
    used_at     INTEGER NOT NULL, -- microseconds since 1970 UTC
    entity      BLOB    NOT NULL, -- gnomon.v1.Entity that was answered
    changed     INTEGER NOT NULL,
    fields      TEXT    NOT NULL, -- JSON
    PRIMARY KEY (entity_type, entity_id, request_id)
) STRICT;

CREATE INDEX entity_requests_by_used_at ON entity_requests (used_at);

-- The queues of the stages, oldest first (G-35), and inverted: an entity is in one
-- stage's queue at most once (G-04).
CREATE TABLE stage_queue (
    stage       TEXT    NOT NULL,
    enqueued_at INTEGER NOT NULL, -- microseconds since 1970 UTC
    entity_type TEXT    NOT NULL,
    entity_id   TEXT    NOT NULL,
    background  INTEGER NOT NULL, -- 1: behind all real changes
    PRIMARY KEY (stage, enqueued_at, entity_type, entity_id)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX stage_queue_inverted ON stage_queue (entity_type, entity_id, stage);

-- Which write of an entity's rows in the queues stands.
CREATE TABLE queue_revisions (
    entity_type TEXT NOT NULL,
    entity_id   TEXT NOT NULL,
    revision    TEXT NOT NULL, -- store.Revision.Encode: its order as text is the order of the writes
    PRIMARY KEY (entity_type, entity_id)
) STRICT, WITHOUT ROWID;

-- The slots of stages that are taken (G-33).
CREATE TABLE stage_slots (
    stage    TEXT    NOT NULL,
    holder   TEXT    NOT NULL,
    until_at INTEGER NOT NULL, -- microseconds since 1970 UTC
    PRIMARY KEY (stage, holder)
) STRICT, WITHOUT ROWID;

CREATE TABLE rewalks (
    stage    TEXT NOT NULL PRIMARY KEY,
    revision TEXT NOT NULL, -- as in queue_revisions
    rewalk   BLOB NOT NULL  -- gnomon.v1.Rewalk
) STRICT, WITHOUT ROWID;

-- +goose Down
DROP TABLE rewalks;
DROP TABLE stage_slots;
DROP TABLE queue_revisions;
DROP TABLE stage_queue;
DROP TABLE entity_requests;
DROP TABLE entity_records;
DROP TABLE stage_states;
DROP TABLE entity_turns;
DROP TABLE entities;
