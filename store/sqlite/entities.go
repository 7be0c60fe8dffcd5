package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/google/uuid"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/store"
	"gnomon/store/internal/dossier"
)

// PutEntity implements store.Entities.
func (s *Store) PutEntity(ctx context.Context, p store.EntityPut) (result store.EntityResult, err error) {
	err = s.changeEntity(ctx, "PutEntity", dossier.KeyOf(p.Entity), func(tx *entityTx) error {
		known, err := tx.request(p.RequestID)
		if err != nil {
			return err
		}
		had, err := tx.Entity()
		if err != nil {
			return err
		}
		var change dossier.Change
		if result, change, err = dossier.Put(had, known, p, uuid.NewString()); err != nil {
			return err
		}
		return tx.write(change)
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
	if q.Limit < 1 {
		return nil, fmt.Errorf("sqlite: ListEntities: EntityQuery.Limit must be at least 1, but is %d", q.Limit)
	}
	err = s.look(ctx, "ListEntities", func(tx *batchTx) error {
		arguments := []any{sql.Named("type", q.Type), sql.Named("after", q.After), sql.Named("limit", q.Limit)}
		return tx.each(statementListEntities, arguments, func(scan func(...any) error) error {
			var b []byte
			if err := scan(&b); err != nil {
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
	return found, nil
}

// CountEntities implements store.Entities.
func (s *Store) CountEntities(ctx context.Context, entityType string) (count uint64, err error) {
	err = s.look(ctx, "CountEntities", func(tx *batchTx) error {
		return tx.QueryRowContext(ctx, statementCountEntities, sql.Named("type", entityType)).Scan(&count)
	})
	return count, err
}

// DeleteEntity implements store.Entities.
func (s *Store) DeleteEntity(ctx context.Context, key store.EntityKey, version int64, at time.Time) (result store.EntityResult, err error) {
	err = s.changeEntity(ctx, "DeleteEntity", key, func(tx *entityTx) error {
		had, err := tx.Entity()
		if err != nil {
			return err
		}
		states, err := tx.States()
		if err != nil {
			return err
		}
		var change dossier.Change
		if result, change, err = dossier.Delete(had, states, version, at, uuid.NewString()); err != nil {
			return err
		}
		return tx.write(change)
	})
	return result, err
}

// PurgeEntityRequests implements store.Entities. A limit below 1 removes nothing.
func (s *Store) PurgeEntityRequests(ctx context.Context, before time.Time, limit int) (purged int, err error) {
	err = s.change(ctx, "PurgeEntityRequests", func(tx *batchTx) error {
		done, err := tx.ExecContext(ctx, statementPurgeRequests, sql.Named("before", before.UnixMicro()), sql.Named("limit", max(0, limit)))
		if err != nil {
			return err
		}
		n, err := done.RowsAffected()
		purged = int(n)
		return err
	})
	return purged, err
}
