package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/store"
	"gnomon/store/internal/dossier"
)

// PutQueue implements store.Entities.
func (s *Store) PutQueue(ctx context.Context, q store.QueueWrite) error {
	return s.changeEntity(ctx, "PutQueue", q.Key, func(tx *entityTx) error {
		revision := q.Revision.Encode()
		var stands string
		err := tx.QueryRowContext(ctx, statementQueueRevision, tx.with()...).Scan(&stands)
		if err != nil && !errors.Is(err, sql.ErrNoRows) || stands >= revision {
			return err
		}
		if err := errors.Join(tx.exec(statementPutQueueRevision, sql.Named("revision", revision)), tx.exec(statementLeaveQueues)); err != nil {
			return err
		}
		for _, e := range q.Entries {
			err := tx.exec(statementEnqueue, sql.Named("stage", e.Stage), sql.Named("enqueued_at", e.EnqueueTime.UnixMicro()),
				sql.Named("background", e.Background))
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// PeekQueue implements store.Entities. A limit below 1 is an error.
func (s *Store) PeekQueue(ctx context.Context, q store.QueueQuery) (entries []store.QueueEntry, err error) {
	if q.Limit < 1 {
		return nil, fmt.Errorf("sqlite: PeekQueue: QueueQuery.Limit must be at least 1, but is %d", q.Limit)
	}
	statement, arguments := peekStatement(q)
	err = s.look(ctx, "PeekQueue", func(tx *batchTx) error {
		return tx.each(statement, arguments, func(scan func(...any) error) error {
			e := store.QueueEntry{Stage: q.Stage}
			var enqueuedAt int64
			err := scan(&e.Key.Type, &e.Key.ID, &enqueuedAt, &e.Background)
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

// peekStatement is the statement and the parameters of a page of a queue.
func peekStatement(q store.QueueQuery) (string, []any) {
	statement, arguments := statementPeek, []any{sql.Named("stage", q.Stage), sql.Named("limit", q.Limit)}
	if a := q.After; a != nil {
		statement += wherePeekAfter
		arguments = append(arguments, sql.Named("after_at", a.EnqueueTime.UnixMicro()),
			sql.Named("after_type", a.Key.Type), sql.Named("after_id", a.Key.ID))
	}
	return statement + orderPeek, arguments
}

// PutRewalk implements store.Entities.
func (s *Store) PutRewalk(ctx context.Context, w *gnomonv1.Rewalk, revision store.Revision) error {
	rewalk, err := dossier.EncodeRewalk(w)
	if err != nil {
		return fmt.Errorf("sqlite: PutRewalk: %w", err)
	}
	return s.change(ctx, "PutRewalk", func(tx *batchTx) error {
		_, err := tx.ExecContext(ctx, statementPutRewalk, sql.Named("stage", w.GetStage()),
			sql.Named("revision", revision.Encode()), sql.Named("rewalk", rewalk))
		return err
	})
}

// GetRewalk implements store.Entities.
func (s *Store) GetRewalk(ctx context.Context, stage string) (w *gnomonv1.Rewalk, err error) {
	err = s.look(ctx, "GetRewalk", func(tx *batchTx) error {
		var b []byte
		err := tx.QueryRowContext(ctx, statementRewalk, sql.Named("stage", stage)).Scan(&b)
		if errors.Is(err, sql.ErrNoRows) {
			return store.ErrNotFound
		}
		if err != nil {
			return err
		}
		w, err = dossier.DecodeRewalk(b)
		return err
	})
	return w, err
}
