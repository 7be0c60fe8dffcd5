package queue

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"google.golang.org/protobuf/proto"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// within does something in one transaction, which is on the disk when it returns nil.
func (q *Queue) within(ctx context.Context, do func(*sql.Tx) error) error {
	tx, err := q.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	err = do(tx)
	if err != nil && !errors.Is(err, ErrNotFound) && !errors.Is(err, ErrOther) {
		return errors.Join(err, ignoreDone(tx.Rollback()))
	}
	return errors.Join(err, tx.Commit())
}

func ignoreDone(err error) error {
	if errors.Is(err, sql.ErrTxDone) {
		return nil
	}
	return err
}

func get(ctx context.Context, tx *sql.Tx, id string) (*gnomonv1.NodeAction, error) {
	return scan(tx.QueryRowContext(ctx, `SELECT record FROM actions WHERE id = ?`, id))
}

// put stores a record as a change of its own, and leaves what was noted of its process.
func put(ctx context.Context, tx *sql.Tx, a *gnomonv1.NodeAction) error {
	record, err := proto.Marshal(a)
	if err != nil {
		return err
	}
	var change uint64
	if err := tx.QueryRowContext(ctx, `UPDATE queue SET last_change = last_change + 1 RETURNING last_change`).Scan(&change); err != nil {
		return err
	}
	var finished *int64
	if a.GetFinishTime() != nil {
		at := a.GetFinishTime().AsTime().UnixMicro()
		finished = &at
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO actions (id, created, state, finished, change, record)
		VALUES (?1, ?2, ?3, ?4, ?5, ?6)
		ON CONFLICT (id) DO UPDATE SET created = ?2, state = ?3, finished = ?4, change = ?5, record = ?6`,
		a.GetId(), a.GetCreateTime().AsTime().UnixMicro(), a.GetState(), finished, change, record)
	return err
}

func closeID(ctx context.Context, tx *sql.Tx, id string, state gnomonv1.NodeAction_State, reason string, now time.Time) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO closed (id, closed, state, reason) VALUES (?1, ?2, ?3, ?4)
		ON CONFLICT (id) DO UPDATE SET closed = ?2`, id, now.UnixMicro(), state, reason)
	return err
}
