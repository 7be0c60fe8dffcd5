package ydb

import (
	"cmp"
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

// Unpublished implements store.Entities. A limit below 1 is an error.
func (s *Store) Unpublished(ctx context.Context, key store.EntityKey, limit int) (records []*gnomonv1.SavedRecord, err error) {
	switch {
	case limit < 1:
		return nil, failure(ctx, "Unpublished", fmt.Errorf("limit must be at least 1, but is %d", limit))
	case !named(key.Type, key.ID):
		return nil, nil
	}
	err = s.lookAtEntity(ctx, "Unpublished", key, func(tx *entityTx) error {
		records = nil
		st := tx.statement(statementUnpublished)
		st.add("$limit", types.Uint64Value(uint64(limit)))
		return tx.read(st, func(row query.Row) error {
			var sequence int64
			var b []byte
			if err := row.Scan(&sequence, &b); err != nil {
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
	if !named(key.Type, key.ID) {
		return nil
	}
	return s.changeEntity(ctx, "Published", key, func(tx *entityTx) error {
		w := &writes{statement{text: deleteRecords}}
		addKey(&w.statement, key)
		w.add("$sequence", types.Int64Value(sequence))
		return tx.write(w)
	})
}

// Forgotten implements store.Entities. A limit below 1 is an error.
func (s *Store) Forgotten(ctx context.Context, before time.Time, after store.EntityKey, limit int) (found []store.EntityVersion, err error) {
	switch {
	case limit < 1:
		return nil, failure(ctx, "Forgotten", fmt.Errorf("limit must be at least 1, but is %d", limit))
	case !named(after.Type, after.ID):
		return nil, failure(ctx, "Forgotten", fmt.Errorf("after must be valid UTF-8, but is %q", after))
	}
	err = s.look(ctx, "Forgotten", func(tx *batchTx) error {
		found, err = dossier.Distinct(after, limit, func(after store.EntityKey) ([]store.EntityVersion, error) {
			return tx.forgotten(before, after, limit)
		})
		return err
	})
	if err != nil {
		return nil, err
	}
	return found, nil
}

// forgotten reads one page, of which an entity may have many rows.
func (tx *batchTx) forgotten(before time.Time, after store.EntityKey, limit int) (page []store.EntityVersion, err error) {
	st := &statement{text: statementForgotten}
	st.add("$type", types.TextValue(after.Type))
	st.add("$id", types.TextValue(after.ID))
	st.add("$before", types.Int64Value(before.UnixMicro()))
	st.add("$limit", types.Uint64Value(uint64(limit)))
	err = tx.read(st, func(row query.Row) error {
		var v store.EntityVersion
		err := row.Scan(&v.Key.Type, &v.Key.ID, &v.Version)
		page = append(page, v)
		return err
	})
	slices.SortFunc(page, func(a, b store.EntityVersion) int {
		return cmp.Or(strings.Compare(a.Key.Type, b.Key.Type), strings.Compare(a.Key.ID, b.Key.ID))
	})
	return page, err
}
