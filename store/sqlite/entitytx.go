package sqlite

import (
	"context"
	"database/sql"
	"errors"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/store"
	"gnomon/store/internal/dossier"
)

// entityTx is one transaction over what belongs to an entity.
type entityTx struct {
	*batchTx

	key store.EntityKey
}

// changeEntity runs a transaction that writes what belongs to an entity.
func (s *Store) changeEntity(ctx context.Context, call string, key store.EntityKey, do func(*entityTx) error) error {
	return s.change(ctx, call, func(tx *batchTx) error { return do(&entityTx{batchTx: tx, key: key}) })
}

// lookAtEntity runs a transaction that only reads it.
func (s *Store) lookAtEntity(ctx context.Context, call string, key store.EntityKey, do func(*entityTx) error) error {
	return s.look(ctx, call, func(tx *batchTx) error { return do(&entityTx{batchTx: tx, key: key}) })
}

// with are the entity's key and other parameters.
func (tx *entityTx) with(others ...any) []any {
	return append([]any{sql.Named("type", tx.key.Type), sql.Named("id", tx.key.ID)}, others...)
}

// exec runs a statement that writes.
func (tx *entityTx) exec(statement string, others ...any) error {
	_, err := tx.ExecContext(tx.ctx, statement, tx.with(others...)...)
	return err
}

// Entity reads the entity, nil if there never was one.
func (tx *entityTx) Entity() (*dossier.Entity, error) {
	var c dossier.EntityColumns
	err := tx.QueryRowContext(tx.ctx, statementEntity, tx.with()...).Scan(&c.Version, &c.Deleted, &c.Sequence, &c.CommitID, &c.Entity)
	if err != nil {
		return none[dossier.Entity](nil, err)
	}
	return c.Decode()
}

// Turn reads who works on it, nil if nobody does.
func (tx *entityTx) Turn() (*dossier.Turn, error) {
	var c dossier.TurnColumns
	err := tx.QueryRowContext(tx.ctx, statementTurn, tx.with()...).Scan(&c.Holder, &c.Until)
	if err != nil {
		return none[dossier.Turn](nil, err)
	}
	return c.Decode(), nil
}

// State reads a stage's state, nil if there is none.
func (tx *entityTx) State(stage string) (*dossier.State, error) {
	return none(scanState(tx.QueryRowContext(tx.ctx, statementState, tx.with(sql.Named("stage", stage))...).Scan))
}

func scanState(scan func(...any) error) (*dossier.State, error) {
	var c dossier.StateColumns
	if err := scan(&c.Stage, &c.Gone, &c.State, &c.VisitID, &c.Result); err != nil {
		return nil, err
	}
	return c.Decode()
}

// States reads the states of all stages.
func (tx *entityTx) States() ([]*dossier.State, error) {
	var all []*dossier.State
	err := tx.each(statementStates, tx.with(), func(scan func(...any) error) error {
		s, err := scanState(scan)
		all = append(all, s)
		return err
	})
	return all, err
}

// each gives the rows of a statement to take.
func (tx *batchTx) each(statement string, arguments []any, take func(scan func(...any) error) error) error {
	found, err := tx.QueryContext(tx.ctx, statement, arguments...)
	if err != nil {
		return err
	}
	defer func() { _ = found.Close() }() // Err says what went wrong
	for found.Next() {
		if err := take(found.Scan); err != nil {
			return err
		}
	}
	return found.Err()
}

// request reads the use of a request_id, nil if it was not used or is none.
func (tx *entityTx) request(id string) (*dossier.Request, error) {
	if id == "" {
		return nil, nil //nolint:nilnil // as where there is no row
	}
	var c dossier.RequestColumns
	err := tx.QueryRowContext(tx.ctx, statementRequest, tx.with(sql.Named("request_id", id))...).
		Scan(&c.Digest, &c.UsedAt, &c.Entity, &c.Changed, &c.Fields)
	if err != nil {
		return none[dossier.Request](nil, err)
	}
	return c.Decode()
}

// write writes a change.
func (tx *entityTx) write(c dossier.Change) error {
	errs := []error{}
	if c.Entity != nil {
		errs = append(errs, tx.putEntity(c.Entity))
	}
	for _, s := range c.States {
		errs = append(errs, tx.putState(s))
	}
	if c.Record != nil {
		errs = append(errs, tx.putRecord(c.Record))
	}
	if c.Request != nil {
		errs = append(errs, tx.putRequest(c.Request))
	}
	return errors.Join(errs...)
}

func (tx *entityTx) putEntity(e *dossier.Entity) error {
	c, err := e.Columns()
	if err != nil {
		return err
	}
	return tx.exec(statementPutEntity, sql.Named("version", c.Version), sql.Named("deleted", c.Deleted),
		sql.Named("sequence", c.Sequence), sql.Named("commit_id", c.CommitID), sql.Named("entity", c.Entity))
}

func (tx *entityTx) putState(s *dossier.State) error {
	c, err := s.Columns()
	if err != nil {
		return err
	}
	return tx.exec(statementPutState, sql.Named("stage", c.Stage), sql.Named("gone", c.Gone), sql.Named("state", c.State),
		sql.Named("visit_id", c.VisitID), sql.Named("result", c.Result))
}

func (tx *entityTx) putRecord(r *gnomonv1.SavedRecord) error {
	record, err := dossier.EncodeRecord(r)
	if err != nil {
		return err
	}
	return tx.exec(statementPutRecord, sql.Named("sequence", r.GetSequence()),
		sql.Named("committed_at", r.GetCommitTime().AsTime().UnixMicro()), sql.Named("record", record))
}

func (tx *entityTx) putRequest(r *dossier.Request) error {
	c, err := r.Columns()
	if err != nil {
		return err
	}
	return tx.exec(statementPutRequest, sql.Named("request_id", r.ID), sql.Named("digest", c.Digest), sql.Named("used_at", c.UsedAt),
		sql.Named("entity", c.Entity), sql.Named("changed", c.Changed), sql.Named("fields", c.Fields))
}

func (tx *entityTx) PutTurn(t *dossier.Turn) error {
	c := t.Columns()
	return tx.exec(statementPutTurn, sql.Named("holder", c.Holder), sql.Named("until", c.Until))
}

func (tx *entityTx) endTurn(holder string) error {
	return tx.exec(statementEndTurn, sql.Named("holder", holder))
}
