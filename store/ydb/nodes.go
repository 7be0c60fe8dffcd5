package ydb

import (
	"context"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/ydb-platform/ydb-go-sdk/v3/query"
	"github.com/ydb-platform/ydb-go-sdk/v3/types"

	"gnomon/store"
	"gnomon/store/internal/roster"
)

// PutNodeActions implements store.Nodes. Rows of many megabytes are written in several
// transactions.
func (s *Store) PutNodeActions(ctx context.Context, rows []store.NodeActionRow) error {
	all, err := roster.NodeActions(rows)
	if err != nil {
		return failure(ctx, "PutNodeActions", err)
	}
	for part := range parts(all) {
		err := s.change(ctx, "PutNodeActions", func(tx *batchTx) error { return tx.putNodeActions(part) })
		if err != nil {
			return err
		}
	}
	return nil
}

// parts divides rows so that each part fits a statement.
func parts(all []roster.Columns) func(yield func([]roster.Columns) bool) {
	return func(yield func([]roster.Columns) bool) {
		for first := 0; first < len(all); {
			size, last := 0, first
			for last < len(all) && (last == first || size+rowBytes+len(all[last].Content) <= groupBytes) {
				size += rowBytes + len(all[last].Content)
				last++
			}
			if !yield(all[first:last]) {
				return
			}
			first = last
		}
	}
}

func (tx *batchTx) putNodeActions(rows []roster.Columns) error {
	st := &statement{text: statementNodeRevisions}
	st.add("$hashes", list(rows, func(c roster.Columns) types.Value { return types.Uint64Value(c.Hash) }))
	type key struct{ cluster, id string }
	standing := map[key]roster.Stored{}
	err := tx.read(st, func(row query.Row) error {
		var k key
		var stands roster.Stored
		err := row.Scan(&k.cluster, &k.id, &stands.Revision, &stands.RequestID, &stands.Digest)
		standing[k] = stands
		return err
	})
	if err != nil {
		return err
	}
	var values []types.Value
	for _, c := range rows { // a copy: the SDK may have this transaction done again
		if stands, ok := standing[key{c.Cluster, c.ID}]; ok && !c.Over(stands.Revision, stands.RequestID, stands.Digest) {
			continue
		}
		values = append(values, types.StructValue(append(rosterFields(c),
			types.StructFieldValue("node", types.TextValue(c.Node)),
			types.StructFieldValue("playbook", types.TextValue(c.Playbook)),
			types.StructFieldValue("action", types.BytesValue(c.Content)),
		)...))
	}
	w := &writes{}
	if len(values) > 0 {
		w.text = upsertNodeActions
		w.add("$rows", types.ListValue(values...))
	}
	return tx.write(w)
}

// PutPlaybook implements store.Nodes.
func (s *Store) PutPlaybook(ctx context.Context, row store.PlaybookRow) error {
	derived, err := roster.Playbook(row)
	if err != nil {
		return failure(ctx, "PutPlaybook", err)
	}
	return s.change(ctx, "PutPlaybook", func(tx *batchTx) error {
		c, applies := derived, true
		st := &statement{text: statementPlaybookRevision}
		st.add("$hash", types.Uint64Value(c.Hash))
		st.add("$id", types.TextValue(c.ID))
		err := tx.read(st, func(row query.Row) error {
			var stands roster.Stored
			err := row.Scan(&stands.Revision, &stands.RequestID, &stands.Digest)
			applies = c.Over(stands.Revision, stands.RequestID, stands.Digest)
			return err
		})
		if err != nil {
			return err
		}
		w := &writes{}
		if applies {
			w.text = upsertPlaybook
			w.add("$rows", types.ListValue(types.StructValue(append(rosterFields(c),
				types.StructFieldValue("playbook", types.BytesValue(c.Content)))...)))
		}
		return tx.write(w)
	})
}

// rosterFields are what rows of both kinds have.
func rosterFields(c roster.Columns) []types.StructValueOption {
	finished := types.NullValue(types.TypeInt64)
	if c.FinishedAt != nil {
		finished = types.OptionalValue(types.Int64Value(*c.FinishedAt))
	}
	return []types.StructValueOption{
		types.StructFieldValue("finished_at", finished),
		types.StructFieldValue("id_hash", types.Uint64Value(c.Hash)),
		types.StructFieldValue("id", types.TextValue(c.ID)),
		types.StructFieldValue("cluster", types.TextValue(c.Cluster)),
		types.StructFieldValue("state", types.Int32Value(c.State)),
		types.StructFieldValue("created_at", types.Int64Value(c.CreatedAt)),
		types.StructFieldValue("revision", types.TextValue(c.Revision)),
		types.StructFieldValue("request_id", types.TextValue(c.RequestID)),
		types.StructFieldValue("digest", types.TextValue(c.Digest)),
	}
}

// GetNodeAction implements store.Nodes.
func (s *Store) GetNodeAction(ctx context.Context, cluster, id string) (store.NodeActionRow, error) {
	st := &statement{text: statementNodeAction}
	st.add("$hash", types.Uint64Value(roster.HashNodeAction(cluster, id)))
	st.add("$cluster", types.TextValue(cluster))
	st.add("$id", types.TextValue(id))
	if !utf8.ValidString(cluster) || !utf8.ValidString(id) { // nothing is named so, and YDB would refuse the parameter
		st = nil
	}
	found, err := rosterRows(ctx, s, "GetNodeAction", st, roster.Stored.NodeAction)
	return only(ctx, "GetNodeAction", found, err)
}

// GetPlaybook implements store.Nodes.
func (s *Store) GetPlaybook(ctx context.Context, id string) (store.PlaybookRow, error) {
	st := &statement{text: statementPlaybook}
	st.add("$hash", types.Uint64Value(roster.HashPlaybook(id)))
	st.add("$id", types.TextValue(id))
	if !utf8.ValidString(id) {
		st = nil
	}
	found, err := rosterRows(ctx, s, "GetPlaybook", st, roster.Stored.Playbook)
	return only(ctx, "GetPlaybook", found, err)
}

// only is the row of one key.
func only[R any](ctx context.Context, call string, found []R, err error) (R, error) {
	if err == nil && len(found) == 0 {
		err = failure(ctx, call, store.ErrNotFound)
	}
	if err != nil {
		var none R
		return none, err
	}
	return found[0], nil
}

// ListNodeActions implements store.Nodes. A limit below 1 is an error.
func (s *Store) ListNodeActions(ctx context.Context, q store.NodeActionQuery) ([]store.NodeActionRow, error) {
	st, err := listNodeActionsStatement(q)
	if err != nil {
		return nil, failure(ctx, "ListNodeActions", err)
	}
	rows, err := rosterRows(ctx, s, "ListNodeActions", st, roster.Stored.NodeAction)
	slices.SortFunc(rows, func(a, b store.NodeActionRow) int {
		return byCreated(a.Action.GetCreateTime(), b.Action.GetCreateTime(), a.Action.GetId(), b.Action.GetId())
	})
	return rows, err
}

// ListPlaybooks implements store.Nodes. A limit below 1 is an error.
func (s *Store) ListPlaybooks(ctx context.Context, q store.PlaybookQuery) ([]store.PlaybookRow, error) {
	st, err := listPlaybooksStatement(q)
	if err != nil {
		return nil, failure(ctx, "ListPlaybooks", err)
	}
	rows, err := rosterRows(ctx, s, "ListPlaybooks", st, roster.Stored.Playbook)
	slices.SortFunc(rows, func(a, b store.PlaybookRow) int {
		return -byCreated(a.Playbook.GetCreateTime(), b.Playbook.GetCreateTime(), a.Playbook.GetId(), b.Playbook.GetId())
	})
	return rows, err
}

// PurgeNodeActions implements store.Nodes. A limit below 1 removes nothing. Of a removal
// whose answer was lost, only what its repetition removed is counted.
func (s *Store) PurgeNodeActions(ctx context.Context, before time.Time, limit int) (int, error) {
	return s.purgeRoster(ctx, "PurgeNodeActions", statementPurgeNodeActions, before, limit)
}

// PurgePlaybooks implements store.Nodes, as PurgeNodeActions.
func (s *Store) PurgePlaybooks(ctx context.Context, before time.Time, limit int) (int, error) {
	return s.purgeRoster(ctx, "PurgePlaybooks", statementPurgePlaybooks, before, limit)
}

func (s *Store) purgeRoster(ctx context.Context, call, text string, before time.Time, limit int) (int, error) {
	s.calls.RLock() // Close waits for what is under way
	defer s.calls.RUnlock()
	if err := s.check(ctx); err != nil || limit < 1 {
		return 0, failure(ctx, call, err)
	}
	st := &statement{text: text}
	st.add("$before", types.Int64Value(before.UnixMicro()))
	st.add("$limit", types.Uint64Value(uint64(min(limit, groupRows))))
	var purged int
	err := s.run(ctx, st, writing(), func(query.Row) error {
		purged++
		return nil
	})
	return purged, failure(ctx, call, err)
}

// rosterRows reads what a statement finds, nothing for none.
func rosterRows[R any](ctx context.Context, s *Store, call string, st *statement, decode func(roster.Stored) (R, error)) ([]R, error) {
	s.calls.RLock() // Close waits for what is under way
	defer s.calls.RUnlock()
	if err := s.check(ctx); err != nil || st == nil {
		return nil, failure(ctx, call, err)
	}
	var rows []R
	err := s.run(ctx, st, reading(), func(row query.Row) error {
		var stored roster.Stored
		if err := row.Scan(&stored.Content, &stored.Revision, &stored.RequestID, &stored.Digest); err != nil {
			return err
		}
		decoded, err := decode(stored)
		rows = append(rows, decoded)
		return err
	})
	if err != nil {
		return nil, failure(ctx, call, err)
	}
	return rows, nil
}
