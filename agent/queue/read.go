package queue

import (
	"context"
	"database/sql"
	"errors"

	"google.golang.org/protobuf/proto"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// Get returns one record, or ErrNotFound.
func (q *Queue) Get(ctx context.Context, id string) (*gnomonv1.NodeAction, error) {
	return scan(q.db.QueryRowContext(ctx, `SELECT record FROM actions WHERE id = ?`, id))
}

// List returns the unfinished actions in the order of execution, and before them, if
// asked, those that have finished, the oldest first. At most limit.
func (q *Queue) List(ctx context.Context, finished bool, limit int) ([]*gnomonv1.NodeAction, error) {
	rows, err := q.db.QueryContext(ctx, `SELECT record FROM actions WHERE finished IS NULL OR ?
		ORDER BY finished IS NULL, finished, created, id LIMIT ?`, finished, limit)
	if err != nil {
		return nil, err
	}
	return records(rows)
}

// Unfinished counts the actions that have not finished.
func (q *Queue) Unfinished(ctx context.Context) (uint32, error) {
	var n uint32
	err := q.db.QueryRowContext(ctx, `SELECT count(*) FROM actions WHERE finished IS NULL`).Scan(&n)
	return n, err
}

// Changes returns the records that changed after a number, each once and as it is now, the
// number to go on from, and whether there are more: at most limit, and at most size bytes
// of them unless the first alone is larger.
func (q *Queue) Changes(ctx context.Context, after uint64, limit, size int) (changed []*gnomonv1.NodeAction, next uint64, more bool, err error) {
	rows, err := q.db.QueryContext(ctx, `SELECT change, record FROM actions WHERE change > ? ORDER BY change LIMIT ?`, after, limit+1)
	if err != nil {
		return nil, 0, false, err
	}
	defer rows.Close()
	next = after
	for rows.Next() {
		if len(changed) == limit {
			return changed, next, true, nil
		}
		var number uint64
		var record []byte
		if err := rows.Scan(&number, &record); err != nil {
			return nil, 0, false, err
		}
		if size -= len(record); size < 0 && len(changed) > 0 {
			return changed, next, true, nil
		}
		a := &gnomonv1.NodeAction{}
		if err := proto.Unmarshal(record, a); err != nil {
			return nil, 0, false, err
		}
		changed, next = append(changed, a), number
	}
	return changed, next, false, rows.Err()
}

// Absent returns those of the ids that the queue has no record of.
func (q *Queue) Absent(ctx context.Context, ids []string) ([]string, error) {
	var absent []string
	for _, id := range ids {
		_, err := q.Get(ctx, id)
		if errors.Is(err, ErrNotFound) {
			absent = append(absent, id)
		} else if err != nil {
			return nil, err
		}
	}
	return absent, nil
}

// running are the RUNNING actions and what runs for them.
func (q *Queue) running(ctx context.Context) (ids, processes []string, err error) {
	rows, err := q.db.QueryContext(ctx, `SELECT id, process FROM actions WHERE finished IS NULL AND state = ?`, gnomonv1.NodeAction_RUNNING)
	if err != nil {
		return nil, nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var id, process string
		if err := rows.Scan(&id, &process); err != nil {
			return nil, nil, err
		}
		ids, processes = append(ids, id), append(processes, process)
	}
	return ids, processes, rows.Err()
}

// scan reads one record.
func scan(row *sql.Row) (*gnomonv1.NodeAction, error) {
	var record []byte
	if err := row.Scan(&record); errors.Is(err, sql.ErrNoRows) {
		return nil, ErrNotFound
	} else if err != nil {
		return nil, err
	}
	a := &gnomonv1.NodeAction{}
	return a, proto.Unmarshal(record, a)
}

func records(rows *sql.Rows) ([]*gnomonv1.NodeAction, error) {
	defer rows.Close()
	var all []*gnomonv1.NodeAction
	for rows.Next() {
		var record []byte
		if err := rows.Scan(&record); err != nil {
			return nil, err
		}
		a := &gnomonv1.NodeAction{}
		if err := proto.Unmarshal(record, a); err != nil {
			return nil, err
		}
		all = append(all, a)
	}
	return all, rows.Err()
}

// words reads a column of text.
func words(rows *sql.Rows) ([]string, error) {
	defer rows.Close()
	var all []string
	for rows.Next() {
		var one string
		if err := rows.Scan(&one); err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, rows.Err()
}
