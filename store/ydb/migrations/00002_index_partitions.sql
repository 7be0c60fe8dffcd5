-- Indexes are tables of their own, and are split by load only if told so.

-- +goose NO TRANSACTION
-- +goose Up
ALTER TABLE scheduled_actions ALTER INDEX scheduled_actions_by_scheduled_at SET (AUTO_PARTITIONING_BY_LOAD = ENABLED);
ALTER TABLE scheduled_actions ALTER INDEX scheduled_actions_by_id SET (AUTO_PARTITIONING_BY_LOAD = ENABLED);

-- +goose Down
ALTER TABLE scheduled_actions ALTER INDEX scheduled_actions_by_scheduled_at SET (AUTO_PARTITIONING_BY_LOAD = DISABLED);
ALTER TABLE scheduled_actions ALTER INDEX scheduled_actions_by_id SET (AUTO_PARTITIONING_BY_LOAD = DISABLED);
