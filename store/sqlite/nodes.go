package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"gnomon/store"
	"gnomon/store/internal/roster"
)

// PutNodeActions implements store.Nodes.
func (s *Store) PutNodeActions(ctx context.Context, rows []store.NodeActionRow) error {
	all, err := roster.NodeActions(rows)
	if err != nil {
		return fmt.Errorf("sqlite: PutNodeActions: %w", err)
	}
	return s.change(ctx, "PutNodeActions", func(tx *batchTx) error {
		for _, c := range all {
			_, err := tx.ExecContext(ctx, statementPutNodeAction, append(rosterArguments(c),
				sql.Named("node", c.Node), sql.Named("playbook", c.Playbook))...)
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// PutPlaybook implements store.Nodes.
func (s *Store) PutPlaybook(ctx context.Context, row store.PlaybookRow) error {
	c, err := roster.Playbook(row)
	if err != nil {
		return fmt.Errorf("sqlite: PutPlaybook: %w", err)
	}
	return s.change(ctx, "PutPlaybook", func(tx *batchTx) error {
		_, err := tx.ExecContext(ctx, statementPutPlaybook, rosterArguments(c)...)
		return err
	})
}

// rosterArguments are the parameters that both kinds have.
func rosterArguments(c roster.Columns) []any {
	return []any{
		sql.Named("cluster", c.Cluster), sql.Named("id", c.ID), sql.Named("state", c.State), sql.Named("created_at", c.CreatedAt),
		sql.Named("finished_at", c.FinishedAt),
		sql.Named("revision", c.Revision), sql.Named("request_id", c.RequestID), sql.Named("digest", c.Digest), sql.Named("content", c.Content),
	}
}

// GetNodeAction implements store.Nodes.
func (s *Store) GetNodeAction(ctx context.Context, cluster, id string) (row store.NodeActionRow, err error) {
	err = s.look(ctx, "GetNodeAction", func(tx *batchTx) error {
		stored, err := scanRoster(tx.QueryRowContext(ctx, statementNodeAction, sql.Named("cluster", cluster), sql.Named("id", id)).Scan)
		if err != nil {
			return err
		}
		row, err = stored.NodeAction()
		return err
	})
	return row, err
}

// GetPlaybook implements store.Nodes.
func (s *Store) GetPlaybook(ctx context.Context, id string) (row store.PlaybookRow, err error) {
	err = s.look(ctx, "GetPlaybook", func(tx *batchTx) error {
		stored, err := scanRoster(tx.QueryRowContext(ctx, statementPlaybook, sql.Named("id", id)).Scan)
		if err != nil {
			return err
		}
		row, err = stored.Playbook()
		return err
	})
	return row, err
}

// ListNodeActions implements store.Nodes. A limit below 1 is an error.
func (s *Store) ListNodeActions(ctx context.Context, q store.NodeActionQuery) (rows []store.NodeActionRow, err error) {
	statement, arguments, err := listNodeActionsStatement(q)
	if err != nil {
		return nil, fmt.Errorf("sqlite: ListNodeActions: %w", err)
	}
	err = s.roster(ctx, "ListNodeActions", statement, arguments, func(stored roster.Stored) error {
		row, err := stored.NodeAction()
		rows = append(rows, row)
		return err
	})
	if err != nil {
		return nil, err
	}
	return rows, nil
}

// ListPlaybooks implements store.Nodes. A limit below 1 is an error.
func (s *Store) ListPlaybooks(ctx context.Context, q store.PlaybookQuery) (rows []store.PlaybookRow, err error) {
	statement, arguments, err := listPlaybooksStatement(q)
	if err != nil {
		return nil, fmt.Errorf("sqlite: ListPlaybooks: %w", err)
	}
	err = s.roster(ctx, "ListPlaybooks", statement, arguments, func(stored roster.Stored) error {
		row, err := stored.Playbook()
		rows = append(rows, row)
		return err
	})
	if err != nil {
		return nil, err
	}
	return rows, nil
}

// PurgeNodeActions implements store.Nodes. A limit below 1 removes nothing.
func (s *Store) PurgeNodeActions(ctx context.Context, before time.Time, limit int) (int, error) {
	return s.purgeRoster(ctx, "PurgeNodeActions", statementPurgeNodeActions, before, limit)
}

// PurgePlaybooks implements store.Nodes. A limit below 1 removes nothing.
func (s *Store) PurgePlaybooks(ctx context.Context, before time.Time, limit int) (int, error) {
	return s.purgeRoster(ctx, "PurgePlaybooks", statementPurgePlaybooks, before, limit)
}

func (s *Store) purgeRoster(ctx context.Context, call, statement string, before time.Time, limit int) (purged int, err error) {
	err = s.change(ctx, call, func(tx *batchTx) error {
		done, err := tx.ExecContext(ctx, statement, sql.Named("before", before.UnixMicro()), sql.Named("limit", max(0, limit)))
		if err != nil {
			return err
		}
		n, err := done.RowsAffected()
		purged = int(n)
		return err
	})
	return purged, err
}

// roster reads the rows of a list.
func (s *Store) roster(ctx context.Context, call, statement string, arguments []any, each func(roster.Stored) error) error {
	return s.look(ctx, call, func(tx *batchTx) error {
		found, err := tx.QueryContext(ctx, statement, arguments...)
		if err != nil {
			return err
		}
		defer func() { _ = found.Close() }() // Err says what went wrong
		for found.Next() {
			stored, err := scanRoster(found.Scan)
			if err != nil {
				return err
			}
			if err := each(stored); err != nil {
				return err
			}
		}
		return found.Err()
	})
}

func scanRoster(scan func(...any) error) (stored roster.Stored, err error) {
	err = scan(&stored.Content, &stored.Revision, &stored.RequestID, &stored.Digest)
	if errors.Is(err, sql.ErrNoRows) {
		err = store.ErrNotFound
	}
	return stored, err
}
