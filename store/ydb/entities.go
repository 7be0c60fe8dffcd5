package ydb

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ydb-platform/ydb-go-sdk/v3/query"
	"github.com/ydb-platform/ydb-go-sdk/v3/types"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/store"
	"gnomon/store/internal/dossier"
)

// PutEntity implements store.Entities.
func (s *Store) PutEntity(ctx context.Context, p store.EntityPut) (result store.EntityResult, err error) {
	a := newAttempt()
	err = s.changeEntity(ctx, "PutEntity", dossier.KeyOf(p.Entity), func(tx *entityTx) error {
		known, err := tx.request(p.RequestID)
		if err != nil {
			return err
		}
		had, err := tx.Entity()
		if err != nil {
			return err
		}
		if done, err := a.done(had); done || err != nil {
			return err
		}
		var change dossier.Change
		if result, change, err = dossier.Put(had, known, p, a.commitID); err != nil {
			return err
		}
		return a.commit(tx, had, change)
	})
	return result, err
}

// GetEntity implements store.Entities.
func (s *Store) GetEntity(ctx context.Context, key store.EntityKey) (found *gnomonv1.Entity, err error) {
	err = s.lookAtEntity(ctx, "GetEntity", key, func(tx *entityTx) error {
		e, err := tx.Entity()
		if err != nil {
			return err
		}
		if !e.Stands() {
			return store.ErrNotFound
		}
		found = e.Entity
		return nil
	})
	return found, err
}

// ListEntities implements store.Entities. A limit below 1 is an error.
func (s *Store) ListEntities(ctx context.Context, q store.EntityQuery) (found []*gnomonv1.Entity, err error) {
	switch {
	case q.Limit < 1:
		return nil, failure(ctx, "ListEntities", fmt.Errorf("EntityQuery.Limit must be at least 1, but is %d", q.Limit))
	case !named(q.Type):
		return nil, nil
	case !named(q.After):
		return nil, failure(ctx, "ListEntities", fmt.Errorf("EntityQuery.After must be valid UTF-8, but is %q", q.After))
	}
	st := &statement{text: statementListEntities}
	st.add("$type", types.TextValue(q.Type))
	st.add("$after", types.TextValue(q.After))
	st.add("$limit", types.Uint64Value(uint64(q.Limit)))
	err = s.look(ctx, "ListEntities", func(tx *batchTx) error {
		found = nil
		return tx.read(st, func(row query.Row) error {
			var b []byte
			if err := row.Scan(&b); err != nil {
				return err
			}
			e, err := dossier.DecodeEntity(b)
			found = append(found, e)
			return err
		})
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(found, func(a, b *gnomonv1.Entity) int { return strings.Compare(a.GetId(), b.GetId()) })
	return found, nil
}

// CountEntities implements store.Entities.
func (s *Store) CountEntities(ctx context.Context, entityType string) (count uint64, err error) {
	if !named(entityType) {
		return 0, nil
	}
	st := &statement{text: statementCountEntities}
	st.add("$type", types.TextValue(entityType))
	err = s.look(ctx, "CountEntities", func(tx *batchTx) error {
		return tx.read(st, func(row query.Row) error { return row.Scan(&count) })
	})
	return count, err
}

// DeleteEntity implements store.Entities.
func (s *Store) DeleteEntity(ctx context.Context, key store.EntityKey, version int64, at time.Time) (result store.EntityResult, err error) {
	a := newAttempt()
	err = s.changeEntity(ctx, "DeleteEntity", key, func(tx *entityTx) error {
		had, err := tx.Entity()
		if err != nil {
			return err
		}
		if done, err := a.done(had); done || err != nil {
			return err
		}
		states, err := tx.States()
		if err != nil {
			return err
		}
		var change dossier.Change
		if result, change, err = dossier.Delete(had, states, version, at, a.commitID); err != nil {
			return err
		}
		return a.commit(tx, had, change)
	})
	return result, err
}

// PurgeEntityRequests implements store.Entities. A limit below 1 removes nothing. Of a
// removal whose answer was lost, only what its repetition removed is counted.
func (s *Store) PurgeEntityRequests(ctx context.Context, before time.Time, limit int) (purged int, err error) {
	st := &statement{text: statementOldRequests}
	st.add("$before", types.Int64Value(before.UnixMicro()))
	st.add("$limit", types.Uint64Value(uint64(max(0, min(limit, groupRows)))))
	err = s.change(ctx, "PurgeEntityRequests", func(tx *batchTx) error {
		var old []types.Value
		err := tx.read(st, func(row query.Row) error {
			var hash uint64
			var key store.EntityKey
			var id string
			var usedAt int64
			if err := row.Scan(&hash, &key.Type, &key.ID, &id, &usedAt); err != nil {
				return err
			}
			old = append(old, keyed(key, types.StructFieldValue("request_id", types.TextValue(id))))
			return nil
		})
		if purged = len(old); err != nil || purged == 0 {
			return err
		}
		w := &writes{}
		w.table(deleteRequests, "$purged", old...)
		return tx.write(w)
	})
	return purged, err
}
