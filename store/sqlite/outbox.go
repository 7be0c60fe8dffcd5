package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/store"
	"gnomon/store/internal/dossier"
)

// Unpublished implements store.Entities. A limit below 1 is an error.
func (s *Store) Unpublished(ctx context.Context, key store.EntityKey, limit int) (records []*gnomonv1.SavedRecord, err error) {
	if limit < 1 {
		return nil, fmt.Errorf("sqlite: Unpublished: limit must be at least 1, but is %d", limit)
	}
	err = s.lookAtEntity(ctx, "Unpublished", key, func(tx *entityTx) error {
		return tx.each(statementUnpublished, tx.with(sql.Named("limit", limit)), func(scan func(...any) error) error {
			var b []byte
			if err := scan(&b); err != nil {
				return err
			}
			r, err := dossier.DecodeRecord(b)
			records = append(records, r)
			return err
		})
	})
	if err != nil {
		return nil, err
	}
	return records, nil
}

// Published implements store.Entities.
func (s *Store) Published(ctx context.Context, key store.EntityKey, sequence int64) error {
	return s.changeEntity(ctx, "Published", key, func(tx *entityTx) error {
		return tx.exec(statementPublished, sql.Named("sequence", sequence))
	})
}

// Forgotten implements store.Entities. A limit below 1 is an error.
func (s *Store) Forgotten(ctx context.Context, before time.Time, after store.EntityKey, limit int) (found []store.EntityVersion, err error) {
	if limit < 1 {
		return nil, fmt.Errorf("sqlite: Forgotten: limit must be at least 1, but is %d", limit)
	}
	err = s.look(ctx, "Forgotten", func(tx *batchTx) error {
		found, err = dossier.Distinct(after, limit, func(after store.EntityKey) (page []store.EntityVersion, err error) {
			arguments := []any{
				sql.Named("type", after.Type), sql.Named("id", after.ID), sql.Named("before", before.UnixMicro()), sql.Named("limit", limit),
			}
			err = tx.each(statementForgotten, arguments, func(scan func(...any) error) error {
				var v store.EntityVersion
				err := scan(&v.Key.Type, &v.Key.ID, &v.Version)
				page = append(page, v)
				return err
			})
			return page, err
		})
		return err
	})
	if err != nil {
		return nil, err
	}
	return found, nil
}
