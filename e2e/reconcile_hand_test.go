package e2e

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/ydb-platform/ydb-go-sdk/v3"
	"github.com/ydb-platform/ydb-go-sdk/v3/query"
	"github.com/ydb-platform/ydb-go-sdk/v3/table"
	"github.com/ydb-platform/ydb-go-sdk/v3/types"
)

// hand changes rows behind the back of their store.
type hand interface {
	// remove removes the row of an id, removeAll all rows.
	remove(t *testing.T, id string)
	removeAll(t *testing.T)
	// overwrite gives a row another status, with the state SCHEDULED, and a revision.
	overwrite(t *testing.T, id string, status []byte, revision string)
	// revive makes a tombstone a living row.
	revive(t *testing.T, id string)
}

// sqliteHand changes a file.
type sqliteHand struct{ *sql.DB }

// one runs a statement and says that it hit one row.
func (h sqliteHand) one(t *testing.T, statement string, arguments ...any) {
	t.Helper()
	result, err := h.ExecContext(t.Context(), statement, arguments...)
	require.NoError(t, err)
	n, err := result.RowsAffected()
	require.NoError(t, err)
	require.EqualValues(t, 1, n)
}

func (h sqliteHand) remove(t *testing.T, id string) {
	t.Helper()
	h.one(t, `DELETE FROM scheduled_actions WHERE meta_action_id = ?`, id)
}

func (h sqliteHand) removeAll(t *testing.T) {
	t.Helper()
	_, err := h.ExecContext(t.Context(), `DELETE FROM scheduled_actions`)
	require.NoError(t, err)
}

func (h sqliteHand) overwrite(t *testing.T, id string, status []byte, revision string) {
	t.Helper()
	h.one(t, `UPDATE scheduled_actions SET status = ?, state = 1, revision = ? WHERE meta_action_id = ?`, status, revision, id)
}

func (h sqliteHand) revive(t *testing.T, id string) {
	t.Helper()
	h.one(t, `UPDATE scheduled_actions SET tombstone = 0, expire_at = NULL WHERE meta_action_id = ?`, id)
}

// ydbHand changes the tables in a directory, by YQL as a person would.
type ydbHand struct {
	driver *ydb.Driver
	prefix string
}

// newYDBHand connects to the database of a connection string.
func newYDBHand(t *testing.T, connection string) ydbHand {
	t.Helper()
	database, directory, _ := strings.Cut(connection, "?directory=")
	driver, err := ydb.Open(t.Context(), database, ydb.WithAnonymousCredentials())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, driver.Close(context.Background())) })
	return ydbHand{driver, driver.Name() + "/" + directory}
}

func (h ydbHand) exec(t *testing.T, statement string, parameters ...table.ParameterOption) {
	t.Helper()
	declared := fmt.Sprintf("PRAGMA TablePathPrefix(%q);\n", h.prefix)
	for _, p := range parameters {
		declared += fmt.Sprintf("DECLARE %s AS %s;\n", p.Name(), p.Value().Type().Yql())
	}
	require.NoError(t, h.driver.Query().Exec(t.Context(), declared+statement,
		query.WithParameters(table.NewQueryParameters(parameters...)), query.WithIdempotent()))
}

func (h ydbHand) remove(t *testing.T, id string) {
	t.Helper()
	h.exec(t, `DELETE FROM scheduled_actions WHERE meta_action_id = $id;`, table.ValueParam("$id", types.TextValue(id)))
}

func (h ydbHand) removeAll(t *testing.T) {
	t.Helper()
	h.exec(t, `DELETE FROM scheduled_actions WHERE true;`)
}

// update writes a row again with some columns changed: an UPSERT names all columns.
func (h ydbHand) update(t *testing.T, id string, set map[string]string, parameters ...table.ParameterOption) {
	t.Helper()
	columns := strings.Split("meta_action_id_hash meta_action_id meta_action_guid status_scheduled_at meta spec status revision chain "+
		"tombstone expire_at deleted_by written_by state kind labels", " ")
	values := make([]string, len(columns))
	for i, c := range columns {
		values[i] = c
		if to, ok := set[c]; ok {
			values[i] = to + " AS " + c
		}
	}
	h.exec(t, fmt.Sprintf("UPSERT INTO scheduled_actions (%s) SELECT %s FROM scheduled_actions WHERE meta_action_id = $id;",
		strings.Join(columns, ", "), strings.Join(values, ", ")), append(parameters, table.ValueParam("$id", types.TextValue(id)))...)
}

func (h ydbHand) overwrite(t *testing.T, id string, status []byte, revision string) {
	t.Helper()
	h.update(t, id, map[string]string{"status": "$status", "state": "$state", "revision": "$revision"},
		table.ValueParam("$status", types.OptionalValue(types.BytesValue(status))),
		table.ValueParam("$state", types.Int32Value(1)), table.ValueParam("$revision", types.TextValue(revision)))
}

func (h ydbHand) revive(t *testing.T, id string) {
	t.Helper()
	h.update(t, id, map[string]string{"tombstone": "$tombstone", "expire_at": "$expire_at"},
		table.ValueParam("$tombstone", types.BoolValue(false)), table.ValueParam("$expire_at", types.NullValue(types.TypeTimestamp)))
}
