package ydb

import (
	"context"
	"unicode/utf8"

	"github.com/ydb-platform/ydb-go-sdk/v3/query"
	"github.com/ydb-platform/ydb-go-sdk/v3/types"

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

// named says whether all are texts that YDB takes as parameters; nothing has another name.
func named(texts ...string) bool {
	for _, text := range texts {
		if !utf8.ValidString(text) {
			return false
		}
	}
	return true
}

// statement is one whose parameters have the entity's key.
func (tx *entityTx) statement(text string) *statement {
	st := &statement{text: text}
	addKey(st, tx.key)
	return st
}

func addKey(st *statement, key store.EntityKey) {
	st.add("$hash", types.Uint64Value(dossier.Hash(key)))
	st.add("$type", types.TextValue(key.Type))
	st.add("$id", types.TextValue(key.ID))
}

// Entity reads the entity, nil if there never was one.
func (tx *entityTx) Entity() (e *dossier.Entity, err error) {
	if !named(tx.key.Type, tx.key.ID) {
		return nil, nil //nolint:nilnil // as where there is no row
	}
	err = tx.read(tx.statement(statementEntity), func(row query.Row) error {
		var c dossier.EntityColumns
		if err := row.Scan(&c.Version, &c.Deleted, &c.Sequence, &c.CommitID, &c.Entity); err != nil {
			return err
		}
		e, err = c.Decode()
		return err
	})
	return e, err
}

// Turn reads who works on it, nil if nobody does.
func (tx *entityTx) Turn() (t *dossier.Turn, err error) {
	if !named(tx.key.Type, tx.key.ID) {
		return nil, nil //nolint:nilnil // as above
	}
	err = tx.read(tx.statement(statementTurn), func(row query.Row) error {
		var c dossier.TurnColumns
		err := row.Scan(&c.Holder, &c.Until)
		t = c.Decode()
		return err
	})
	return t, err
}

// State reads a stage's state, nil if there is none.
func (tx *entityTx) State(stage string) (*dossier.State, error) {
	if !named(tx.key.Type, tx.key.ID, stage) {
		return nil, nil //nolint:nilnil // as above
	}
	st := tx.statement(statementState)
	st.add("$stage", types.TextValue(stage))
	all, err := tx.readStates(st)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	return all[0], nil
}

// States reads the states of all stages.
func (tx *entityTx) States() ([]*dossier.State, error) {
	if !named(tx.key.Type, tx.key.ID) {
		return nil, nil
	}
	return tx.readStates(tx.statement(statementStates))
}

func (tx *entityTx) readStates(st *statement) (all []*dossier.State, err error) {
	err = tx.read(st, func(row query.Row) error {
		var c dossier.StateColumns
		if err := row.Scan(&c.Stage, &c.Gone, &c.State, &c.VisitID, &c.Result); err != nil {
			return err
		}
		s, err := c.Decode()
		all = append(all, s)
		return err
	})
	return all, err
}

// request reads the use of a request_id, nil if it was not used or is none.
func (tx *entityTx) request(id string) (r *dossier.Request, err error) {
	if id == "" {
		return nil, nil //nolint:nilnil // as above
	}
	st := tx.statement(statementRequest)
	st.add("$request_id", types.TextValue(id))
	err = tx.read(st, func(row query.Row) error {
		var c dossier.RequestColumns
		if err := row.Scan(&c.Digest, &c.UsedAt, &c.Entity, &c.Changed, &c.Fields); err != nil {
			return err
		}
		r, err = c.Decode()
		return err
	})
	return r, err
}

// commit writes a change with the transaction's last statement.
func (tx *entityTx) commit(c dossier.Change, holder string) error {
	w := &entityWrites{key: tx.key}
	var errs []error
	if c.Entity != nil {
		errs = append(errs, w.entity(c.Entity))
	}
	if len(c.States) > 0 {
		errs = append(errs, w.states(c.States))
	}
	if c.Record != nil {
		errs = append(errs, w.record(c.Record))
	}
	if c.Request != nil {
		errs = append(errs, w.request(c.Request))
	}
	if c.EndTurn {
		w.endTurn(holder)
	}
	return tx.write(&w.writes, errs...)
}

// entityWrites are what a transaction writes of an entity.
type entityWrites struct {
	writes

	key store.EntityKey
}

// row is one as a parameter: the entity's key and other fields.
func (w *entityWrites) row(fields ...types.StructValueOption) types.Value {
	return keyed(w.key, fields...)
}

func keyed(key store.EntityKey, fields ...types.StructValueOption) types.Value {
	return types.StructValue(append([]types.StructValueOption{
		types.StructFieldValue("id_hash", types.Uint64Value(dossier.Hash(key))),
		types.StructFieldValue("entity_type", types.TextValue(key.Type)),
		types.StructFieldValue("entity_id", types.TextValue(key.ID)),
	}, fields...)...)
}

// table adds a statement and the rows that it writes.
func (w *writes) table(text, parameter string, rows ...types.Value) {
	w.text += text
	w.add(parameter, types.ListValue(rows...))
}

func (w *entityWrites) entity(e *dossier.Entity) error {
	c, err := e.Columns()
	w.table(upsertEntity, "$entities", w.row(
		types.StructFieldValue("version", types.Int64Value(c.Version)),
		types.StructFieldValue("deleted", types.BoolValue(c.Deleted)),
		types.StructFieldValue("sequence", types.Int64Value(c.Sequence)),
		types.StructFieldValue("commit_id", types.TextValue(c.CommitID)),
		types.StructFieldValue("entity", types.BytesValue(c.Entity)),
	))
	return err
}

func (w *entityWrites) states(all []*dossier.State) error {
	rows := make([]types.Value, len(all))
	for i, s := range all {
		c, err := s.Columns()
		if err != nil {
			return err
		}
		rows[i] = w.row(
			types.StructFieldValue("stage", types.TextValue(c.Stage)),
			types.StructFieldValue("gone", types.BoolValue(c.Gone)),
			types.StructFieldValue("state", types.BytesValue(c.State)),
			types.StructFieldValue("visit_id", types.TextValue(c.VisitID)),
			types.StructFieldValue("result", types.BytesValue(c.Result)),
		)
	}
	w.table(upsertStates, "$states", rows...)
	return nil
}

func (w *entityWrites) record(r *gnomonv1.SavedRecord) error {
	record, err := dossier.EncodeRecord(r)
	w.table(upsertRecord, "$records", w.row(
		types.StructFieldValue("sequence", types.Int64Value(r.GetSequence())),
		types.StructFieldValue("committed_at", types.Int64Value(r.GetCommitTime().AsTime().UnixMicro())),
		types.StructFieldValue("record", types.BytesValue(record)),
	))
	return err
}

func (w *entityWrites) request(r *dossier.Request) error {
	c, err := r.Columns()
	w.table(upsertRequest, "$requests", w.row(
		types.StructFieldValue("request_id", types.TextValue(r.ID)),
		types.StructFieldValue("digest", types.TextValue(c.Digest)),
		types.StructFieldValue("used_at", types.Int64Value(c.UsedAt)),
		types.StructFieldValue("entity", types.BytesValue(c.Entity)),
		types.StructFieldValue("changed", types.BoolValue(c.Changed)),
		types.StructFieldValue("fields", types.TextValue(c.Fields)),
	))
	return err
}

func (w *entityWrites) turn(t *dossier.Turn) {
	c := t.Columns()
	w.table(upsertTurn, "$turns", w.row(
		types.StructFieldValue("holder", types.TextValue(c.Holder)),
		types.StructFieldValue("until_at", types.Int64Value(c.Until)),
	))
}

// endTurn removes the turn if it is the holder's.
func (w *entityWrites) endTurn(holder string) {
	w.text += deleteTurn
	addKey(&w.statement, w.key)
	w.add("$holder", types.TextValue(holder))
}
