-- Entities, the states of their stages and what is to be published (seed 004). Of these
-- the store is the truth. The keys of an entity's rows begin with FNV-1a 64 of type/id,
-- to spread the load.

-- +goose NO TRANSACTION
-- +goose Up
CREATE TABLE IF NOT EXISTS entities (
    id_hash     Uint64 NOT NULL,
    entity_type Utf8   NOT NULL,
    entity_id   Utf8   NOT NULL,
    version     Int64  NOT NULL, -- as in entity; goes on after a deletion
    deleted     Bool   NOT NULL, -- it has no content and is seen by nobody
    sequence    Int64  NOT NULL, -- of its last record
    commit_id   Utf8   NOT NULL, -- of its last record
    entity      String NOT NULL, -- gnomon.v1.Entity

    INDEX entities_by_id GLOBAL SYNC ON (entity_type, deleted, entity_id),

    PRIMARY KEY (id_hash, entity_type, entity_id)
) WITH (
    AUTO_PARTITIONING_BY_SIZE = ENABLED,
    AUTO_PARTITIONING_BY_LOAD = ENABLED
);
-- Who works on an entity: one visit at a time (G-25).
CREATE TABLE IF NOT EXISTS entity_turns (
    id_hash     Uint64 NOT NULL,
    entity_type Utf8   NOT NULL,
    entity_id   Utf8   NOT NULL,
    holder      Utf8   NOT NULL,
    until_at    Int64  NOT NULL, -- microseconds since 1970 UTC

    PRIMARY KEY (id_hash, entity_type, entity_id)
) WITH (
    AUTO_PARTITIONING_BY_SIZE = ENABLED,
    AUTO_PARTITIONING_BY_LOAD = ENABLED
);
CREATE TABLE IF NOT EXISTS stage_states (
    id_hash     Uint64 NOT NULL,
    entity_type Utf8   NOT NULL,
    entity_id   Utf8   NOT NULL,
    stage       Utf8   NOT NULL,
    gone        Bool   NOT NULL, -- the entity was deleted; only the version goes on
    state       String NOT NULL, -- gnomon.v1.StageState
    visit_id    Utf8   NOT NULL, -- the stage's last commit; empty is none
    result      String NOT NULL, -- gnomon.workflow.v1.VisitResult of that

    PRIMARY KEY (id_hash, entity_type, entity_id, stage)
) WITH (
    AUTO_PARTITIONING_BY_SIZE = ENABLED,
    AUTO_PARTITIONING_BY_LOAD = ENABLED
);
-- The outbox: what was committed and is not published yet (G-12).
CREATE TABLE IF NOT EXISTS entity_records (
    id_hash      Uint64 NOT NULL,
    entity_type  Utf8   NOT NULL,
    entity_id    Utf8   NOT NULL,
    sequence     Int64  NOT NULL,
    committed_at Int64  NOT NULL, -- microseconds since 1970 UTC
    record       String NOT NULL, -- gnomon.v1.SavedRecord

    INDEX entity_records_by_committed_at GLOBAL SYNC ON (entity_type, entity_id, committed_at),

    PRIMARY KEY (id_hash, entity_type, entity_id, sequence)
) WITH (
    AUTO_PARTITIONING_BY_SIZE = ENABLED,
    AUTO_PARTITIONING_BY_LOAD = ENABLED
);
CREATE TABLE IF NOT EXISTS entity_requests (
    id_hash     Uint64 NOT NULL,
    entity_type Utf8   NOT NULL,
    entity_id   Utf8   NOT NULL,
    request_id  Utf8   NOT NULL,
    digest      Utf8   NOT NULL, -- tells what it asked for
    used_at     Int64  NOT NULL, -- microseconds since 1970 UTC
    entity      String NOT NULL, -- gnomon.v1.Entity that was answered
    changed     Bool   NOT NULL,
    fields      Utf8   NOT NULL, -- JSON

    INDEX entity_requests_by_used_at GLOBAL SYNC ON (used_at),

    PRIMARY KEY (id_hash, entity_type, entity_id, request_id)
) WITH (
    AUTO_PARTITIONING_BY_SIZE = ENABLED,
    AUTO_PARTITIONING_BY_LOAD = ENABLED
);
-- The queues of the stages, inverted: an entity is in one stage's queue at most once
-- (G-04). The index is the queue itself, oldest first (G-35).
CREATE TABLE IF NOT EXISTS stage_queue (
    id_hash     Uint64 NOT NULL,
    entity_type Utf8   NOT NULL,
    entity_id   Utf8   NOT NULL,
    stage       Utf8   NOT NULL,
    enqueued_at Int64  NOT NULL, -- microseconds since 1970 UTC
    background  Bool   NOT NULL, -- behind all real changes

    INDEX stage_queue_by_enqueued_at GLOBAL SYNC ON (stage, enqueued_at, entity_type, entity_id) COVER (background),

    PRIMARY KEY (id_hash, entity_type, entity_id, stage)
) WITH (
    AUTO_PARTITIONING_BY_SIZE = ENABLED,
    AUTO_PARTITIONING_BY_LOAD = ENABLED
);
-- Which write of an entity's rows in the queues stands.
CREATE TABLE IF NOT EXISTS queue_revisions (
    id_hash     Uint64 NOT NULL,
    entity_type Utf8   NOT NULL,
    entity_id   Utf8   NOT NULL,
    revision    Utf8   NOT NULL, -- store.Revision.Encode: its order as text is the order of the writes

    PRIMARY KEY (id_hash, entity_type, entity_id)
) WITH (
    AUTO_PARTITIONING_BY_SIZE = ENABLED,
    AUTO_PARTITIONING_BY_LOAD = ENABLED
);
-- The slots of stages that are taken (G-33).
CREATE TABLE IF NOT EXISTS stage_slots (
    stage    Utf8  NOT NULL,
    holder   Utf8  NOT NULL,
    until_at Int64 NOT NULL, -- microseconds since 1970 UTC

    PRIMARY KEY (stage, holder)
);
CREATE TABLE IF NOT EXISTS rewalks (
    stage    Utf8   NOT NULL,
    revision Utf8   NOT NULL, -- as in queue_revisions
    rewalk   String NOT NULL, -- gnomon.v1.Rewalk

    PRIMARY KEY (stage)
);

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
