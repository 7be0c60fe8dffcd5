package ydb

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/ydb-platform/ydb-go-sdk/v3/query"
	"github.com/ydb-platform/ydb-go-sdk/v3/types"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/store"
	"gnomon/store/internal/dossier"
)

// PutQueue implements store.Entities.
func (s *Store) PutQueue(ctx context.Context, q store.QueueWrite) error {
	revision := q.Revision.Encode()
	return s.changeEntity(ctx, "PutQueue", q.Key, func(tx *entityTx) error {
		var stands string
		err := tx.read(tx.statement(statementQueueRevision), func(row query.Row) error { return row.Scan(&stands) })
		if err != nil || stands >= revision {
			return err
		}
		var stages []string
		err = tx.read(tx.statement(statementQueued), func(row query.Row) error {
			var stage string
			err := row.Scan(&stage)
			stages = append(stages, stage)
			return err
		})
		if err != nil {
			return err
		}
		w := &entityWrites{key: q.Key}
		w.table(upsertQueueRevision, "$revisions", w.row(types.StructFieldValue("revision", types.TextValue(revision))))
		w.queue(stages, q.Entries)
		return tx.write(&w.writes)
	})
}

// queue writes these entries over those of these stages. No row is both removed and
// written.
func (w *entityWrites) queue(stages []string, entries []store.QueueEntry) {
	left := slices.DeleteFunc(slices.Clone(stages), func(stage string) bool {
		return slices.ContainsFunc(entries, func(e store.QueueEntry) bool { return e.Stage == stage })
	})
	if len(left) > 0 {
		w.table(deleteQueued, "$left", rows(left, func(stage string) types.Value {
			return w.row(types.StructFieldValue("stage", types.TextValue(stage)))
		})...)
	}
	if len(entries) > 0 {
		w.table(upsertQueued, "$entered", rows(entries, func(e store.QueueEntry) types.Value {
			return w.row(
				types.StructFieldValue("stage", types.TextValue(e.Stage)),
				types.StructFieldValue("enqueued_at", types.Int64Value(e.EnqueueTime.UnixMicro())),
				types.StructFieldValue("background", types.BoolValue(e.Background)),
			)
		})...)
	}
}

// PeekQueue implements store.Entities. A limit below 1 is an error.
func (s *Store) PeekQueue(ctx context.Context, q store.QueueQuery) (entries []store.QueueEntry, err error) {
	st, err := peekStatement(q)
	if err != nil || st == nil {
		return nil, failure(ctx, "PeekQueue", err)
	}
	err = s.look(ctx, "PeekQueue", func(tx *batchTx) error {
		entries = nil
		return tx.read(st, func(row query.Row) error {
			e := store.QueueEntry{Stage: q.Stage}
			var enqueuedAt int64
			err := row.Scan(&e.Key.Type, &e.Key.ID, &enqueuedAt, &e.Background)
			e.EnqueueTime = time.UnixMicro(enqueuedAt).UTC()
			entries = append(entries, e)
			return err
		})
	})
	if err != nil {
		return nil, err
	}
	return entries, nil
}

// peekStatement is the statement of a page of a queue, or nil where no row can be found.
func peekStatement(q store.QueueQuery) (*statement, error) {
	if q.Limit < 1 {
		return nil, fmt.Errorf("QueueQuery.Limit must be at least 1, but is %d", q.Limit)
	}
	if !named(q.Stage) {
		return nil, nil //nolint:nilnil // no stage has such a name, and YDB would refuse the parameter
	}
	st := &statement{text: statementPeek}
	st.add("$stage", types.TextValue(q.Stage))
	st.add("$limit", types.Uint64Value(uint64(q.Limit)))
	if a := q.After; a != nil {
		if !named(a.Key.Type, a.Key.ID) {
			return nil, fmt.Errorf("QueueQuery.After must be valid UTF-8, but is %q", a.Key)
		}
		st.text += wherePeekAfter
		st.add("$after_at", types.Int64Value(a.EnqueueTime.UnixMicro()))
		st.add("$after_type", types.TextValue(a.Key.Type))
		st.add("$after_id", types.TextValue(a.Key.ID))
	}
	st.text += orderPeek
	return st, nil
}

// PutRewalk implements store.Entities.
func (s *Store) PutRewalk(ctx context.Context, walk *gnomonv1.Rewalk, revision store.Revision) error {
	content, err := dossier.EncodeRewalk(walk)
	if err != nil {
		return failure(ctx, "PutRewalk", err)
	}
	return s.change(ctx, "PutRewalk", func(tx *batchTx) error {
		stands, _, err := tx.rewalk(walk.GetStage())
		if err != nil || stands >= revision.Encode() {
			return err
		}
		w := &writes{}
		w.table(upsertRewalk, "$rewalks", types.StructValue(
			types.StructFieldValue("stage", types.TextValue(walk.GetStage())),
			types.StructFieldValue("revision", types.TextValue(revision.Encode())),
			types.StructFieldValue("rewalk", types.BytesValue(content)),
		))
		return tx.write(w)
	})
}

// GetRewalk implements store.Entities.
func (s *Store) GetRewalk(ctx context.Context, stage string) (walk *gnomonv1.Rewalk, err error) {
	err = s.look(ctx, "GetRewalk", func(tx *batchTx) error {
		if !named(stage) {
			return store.ErrNotFound
		}
		revision, content, err := tx.rewalk(stage)
		if err != nil {
			return err
		}
		if revision == "" {
			return store.ErrNotFound
		}
		walk, err = dossier.DecodeRewalk(content)
		return err
	})
	return walk, err
}

// rewalk reads the walk of a stage, whose revision is empty if there is none.
func (tx *batchTx) rewalk(stage string) (revision string, content []byte, err error) {
	st := &statement{text: statementRewalk}
	st.add("$stage", types.TextValue(stage))
	err = tx.read(st, func(row query.Row) error { return row.Scan(&revision, &content) })
	return revision, content, err
}
