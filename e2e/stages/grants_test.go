package stages

import (
	"database/sql"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	_ "modernc.org/sqlite" // the driver of the store's file
)

// grant is a call that the limiter granted, by its own record.
type grant struct {
	name string
	at   time.Time
}

// grants is a book of all calls that are granted: the limiter keeps those of the last second
// alone, so that the store itself is made to note each.
type grants struct{ file *sql.DB }

func watchGrants(t *testing.T, s *site) *grants {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+strings.TrimPrefix(s.rows, "sqlite:")+"?_pragma=busy_timeout(10000)")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	for _, statement := range []string{
		`CREATE TABLE granted (stage TEXT NOT NULL, name TEXT NOT NULL, until_at INTEGER NOT NULL)`,
		`CREATE TRIGGER grants AFTER INSERT ON stage_slots BEGIN INSERT INTO granted VALUES (NEW.stage, NEW.holder, NEW.until_at); END`,
		// A grant that were moved is another one.
		`CREATE TRIGGER regrants AFTER UPDATE ON stage_slots BEGIN INSERT INTO granted VALUES (NEW.stage, NEW.holder, NEW.until_at); END`,
	} {
		_, err := db.ExecContext(t.Context(), statement)
		require.NoError(t, err)
	}
	return &grants{file: db}
}

// read are the calls of a stage that were granted, in the order of their times. Its rate is a
// whole number, so that what is kept counts for a second.
func (g *grants) read(t *testing.T, stage string) (all []grant) {
	t.Helper()
	rows, err := g.file.QueryContext(t.Context(), `SELECT name, until_at FROM granted WHERE stage = ?`, stage+"/calls")
	require.NoError(t, err)
	defer func() { require.NoError(t, rows.Close()) }()
	for rows.Next() {
		var name string
		var until int64
		require.NoError(t, rows.Scan(&name, &until))
		all = append(all, grant{name, time.UnixMicro(until).Add(-time.Second)})
	}
	require.NoError(t, rows.Err())
	slices.SortFunc(all, func(a, b grant) int { return a.at.Compare(b.at) })
	return all
}
