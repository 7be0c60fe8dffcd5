package ydbdouble_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/ydb-platform/ydb-go-genproto/protos/Ydb"
	"github.com/ydb-platform/ydb-go-sdk/v3"
	"github.com/ydb-platform/ydb-go-sdk/v3/query"
	"github.com/ydb-platform/ydb-go-sdk/v3/table"
	"github.com/ydb-platform/ydb-go-sdk/v3/types"
	"go.uber.org/goleak"

	"gnomon/store/ydb/ydbdouble"
)

var errUndo = errors.New("undo")

const prefix = `PRAGMA TablePathPrefix("/local");`

const createTable = prefix + `
CREATE TABLE things (
    meta_action_id_hash Uint64 NOT NULL, meta_action_id Utf8 NOT NULL, n Int64 NOT NULL, maybe Utf8, at Timestamp,
    INDEX by_n GLOBAL SYNC ON (n), INDEX late GLOBAL ASYNC ON (n) COVER (maybe),
    PRIMARY KEY (meta_action_id_hash, meta_action_id)
) WITH (TTL = Interval("PT0S") ON at);`

// connect starts a double with one table and connects YDB's SDK to it.
func connect(t *testing.T) query.Client {
	t.Helper()
	server, err := ydbdouble.Start(t.Context(), ydbdouble.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Stop()) })
	driver, err := ydb.Open(t.Context(), server.ConnectionString(""), ydb.WithAnonymousCredentials())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, driver.Close(t.Context())) })
	client := driver.Query()
	require.NoError(t, client.Exec(t.Context(), createTable))
	return client
}

func with(parameters ...table.ParameterOption) query.ExecuteOption {
	return query.WithParameters(table.NewQueryParameters(parameters...))
}

func within(tx *query.TransactionControl) query.ExecuteOption { return query.WithTxControl(tx) }

// What YDB refuses, the double refuses. Each rule has a statement that keeps it, so
// that it is the rule that refuses the other.
func TestRules(t *testing.T) {
	t.Parallel()
	client := connect(t)
	writing := query.SerializableReadWriteTxControl(query.CommitTx())
	empty := types.ZeroValue(types.List(types.TypeInt64))
	structs := types.ListValue(types.StructValue(
		types.StructFieldValue("meta_action_id", types.TextValue("b")), types.StructFieldValue("meta_action_id_hash", types.Uint64Value(2)),
		types.StructFieldValue("n", types.OptionalValue(types.Int64Value(1)))))
	null := types.ListValue(types.StructValue(
		types.StructFieldValue("meta_action_id", types.TextValue("b")), types.StructFieldValue("meta_action_id_hash", types.Uint64Value(2)),
		types.StructFieldValue("n", types.NullValue(types.TypeInt64))))
	const upsert = `DECLARE $r AS List<Struct<meta_action_id:Utf8,meta_action_id_hash:Uint64,n:Int64?>>;
		UPSERT INTO things (meta_action_id_hash, meta_action_id, n) SELECT r.meta_action_id_hash AS meta_action_id_hash, r.meta_action_id AS meta_action_id, r.n AS n FROM AS_TABLE($r) AS r;`
	for name, test := range map[string]struct {
		kept       string
		keptWith   []query.ExecuteOption
		broken     string
		brokenWith []query.ExecuteOption
		status     Ydb.StatusIds_StatusCode
		because    string
	}{
		"a parameter is declared": {
			kept: `DECLARE $n AS Int64; SELECT n FROM things WHERE n = $n;`, keptWith: []query.ExecuteOption{with(table.ValueParam("$n", types.Int64Value(1)))},
			broken: `SELECT n FROM things WHERE n = $n;`, brokenWith: []query.ExecuteOption{with(table.ValueParam("$n", types.Int64Value(1)))},
			status: Ydb.StatusIds_GENERIC_ERROR, because: "not declared",
		},
		"a parameter is of its declared type": {
			broken: `DECLARE $n AS Int64; SELECT n FROM things WHERE n = $n;`, brokenWith: []query.ExecuteOption{with(table.ValueParam("$n", types.Uint64Value(1)))},
			status: Ydb.StatusIds_GENERIC_ERROR, because: "has the type Uint64, but is declared as Int64",
		},
		"a parameter is given": {
			broken: `DECLARE $n AS Int64; SELECT n FROM things WHERE n = $n;`,
			status: Ydb.StatusIds_GENERIC_ERROR, because: "no value for the parameter $n",
		},
		"a list is not empty": {
			kept: `DECLARE $n AS List<Int64>; SELECT n FROM things WHERE n IN $n;`, keptWith: []query.ExecuteOption{with(table.ValueParam("$n", types.ListValue(types.Int64Value(1))))},
			broken: `DECLARE $n AS List<Int64>; SELECT n FROM things WHERE n IN $n;`, brokenWith: []query.ExecuteOption{with(table.ValueParam("$n", empty))},
			status: Ydb.StatusIds_GENERIC_ERROR, because: "at least one",
		},
		"no NULL where a column has none": {
			kept: upsert, keptWith: []query.ExecuteOption{with(table.ValueParam("$r", structs)), within(writing)},
			broken: upsert, brokenWith: []query.ExecuteOption{with(table.ValueParam("$r", null)), within(writing)},
			status: Ydb.StatusIds_BAD_REQUEST, because: "NOT NULL",
		},
		"tables change outside of transactions": {
			kept:   `CREATE TABLE other (id Uint64 NOT NULL, PRIMARY KEY (id));`,
			broken: `CREATE TABLE third (id Uint64 NOT NULL, PRIMARY KEY (id));`, brokenWith: []query.ExecuteOption{within(writing)},
			status: Ydb.StatusIds_GENERIC_ERROR, because: "Scheme operations cannot be executed inside transaction",
		},
		"tables change alone": {
			broken: `CREATE TABLE fourth (id Uint64 NOT NULL, PRIMARY KEY (id)); SELECT n FROM things;`,
			status: Ydb.StatusIds_GENERIC_ERROR, because: "not alone",
		},
		"read-only transactions write nothing": {
			kept: `DELETE FROM things WHERE n = 5;`, keptWith: []query.ExecuteOption{within(writing)},
			broken: `DELETE FROM things WHERE n = 5;`, brokenWith: []query.ExecuteOption{within(query.SnapshotReadOnlyTxControl())},
			status: Ydb.StatusIds_GENERIC_ERROR, because: "read-only",
		},
		"an asynchronous index is read stale": {
			kept: `SELECT n FROM things VIEW late WHERE n = 1;`, keptWith: []query.ExecuteOption{within(query.StaleReadOnlyTxControl())},
			broken: `SELECT n FROM things VIEW late WHERE n = 1;`, brokenWith: []query.ExecuteOption{within(query.SnapshotReadOnlyTxControl())},
			status: Ydb.StatusIds_GENERIC_ERROR, because: "StaleReadOnly",
		},
		"a synchronous index is read by all": {
			kept:   `SELECT n FROM things VIEW by_n WHERE n = 1;`,
			broken: `SELECT n FROM things VIEW by_m WHERE n = 1;`, status: Ydb.StatusIds_SCHEME_ERROR, because: "index not found",
		},
		"a table is there": {broken: `SELECT n FROM nothing;`, status: Ydb.StatusIds_SCHEME_ERROR, because: "Cannot find table '/local/nothing'"},
		"DELETE ON names the key": {
			kept:   `DELETE FROM things ON SELECT meta_action_id_hash, meta_action_id FROM things WHERE n = 5;`,
			broken: `DELETE FROM things ON SELECT meta_action_id FROM things WHERE n = 5;`, status: Ydb.StatusIds_GENERIC_ERROR, because: "the key is",
		},
		"TTL is on a Timestamp": {
			broken: `CREATE TABLE fifth (id Uint64 NOT NULL, n Int64, PRIMARY KEY (id)) WITH (TTL = Interval("PT0S") ON n);`,
			status: Ydb.StatusIds_SCHEME_ERROR, because: "no Timestamp",
		},
		"what only SQLite has is not here":        {broken: `SELECT json_array(n) AS n FROM things;`, status: Ydb.StatusIds_GENERIC_ERROR, because: "the function json_array"},
		"statements that are not known":           {broken: `REPLACE INTO things (n) VALUES (1);`, status: Ydb.StatusIds_GENERIC_ERROR, because: "a statement REPLACE"},
		"settings that are not known":             {broken: `CREATE TABLE sixth (id Uint64, PRIMARY KEY (id)) WITH (STORE = COLUMN);`, status: Ydb.StatusIds_GENERIC_ERROR, because: "a setting"},
		"an INSERT of what is there is no UPSERT": {broken: `INSERT INTO things (meta_action_id_hash, meta_action_id, n) VALUES (1, "twice"u, 1), (1, "twice"u, 1);`, status: Ydb.StatusIds_PRECONDITION_FAILED, because: "UNIQUE"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if test.kept != "" {
				require.NoError(t, client.Exec(t.Context(), prefix+test.kept, test.keptWith...))
			}
			err := client.Exec(t.Context(), prefix+test.broken, test.brokenWith...)
			require.ErrorContains(t, err, test.because)
			require.True(t, ydb.IsOperationError(err, test.status), "%s", err)
		})
	}
}

// What is rolled back was not done, and what is committed is seen.
func TestInteractiveTransactions(t *testing.T) {
	t.Parallel()
	client := connect(t)
	insert := func(id string, fails error) error {
		return client.DoTx(t.Context(), func(ctx context.Context, tx query.TxActor) error {
			if err := tx.Exec(ctx, prefix+`UPSERT INTO things (meta_action_id_hash, meta_action_id, n) SELECT 1 AS meta_action_id_hash, "`+id+`"u AS meta_action_id, 1 AS n;`); err != nil {
				return err
			}
			return fails
		})
	}
	require.NoError(t, insert("kept", nil))
	require.ErrorIs(t, insert("undone", errUndo), errUndo)
	row, err := client.QueryRow(t.Context(), prefix+`SELECT meta_action_id FROM things;`)
	require.NoError(t, err, "there is one")
	var id string
	require.NoError(t, row.Scan(&id))
	require.Equal(t, "kept", id)
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
