package site

import (
	"context"
	"database/sql"
	"errors"
	"net/url"
	"slices"
	"strings"
	"time"

	_ "modernc.org/sqlite" // the driver
)

// Bytes are those of content in the tables of Temporal's database, with their indexes,
// by table.
type Bytes map[string]int64

// Core are those of what is kept for each workflow: its state, its history and the timers
// it waits for. Left out are the tables that lists and counts are answered from, and the
// queues of tasks, whose rows are removed some time after they are done.
func (b Bytes) Core() int64 {
	var all int64
	for table, size := range b {
		if !forLists(table) && !slices.Contains(queues, table) {
			all += size
		}
	}
	return all
}

// Lists are those of the tables that lists and counts are answered from.
func (b Bytes) Lists() int64 {
	var all int64
	for table, size := range b {
		if forLists(table) {
			all += size
		}
	}
	return all
}

// Since are those of each of n that came since before.
func (b Bytes) Since(before Bytes, n int) Bytes {
	each := Bytes{}
	for table := range b {
		each[table] = (b[table] - before[table]) / int64(n)
	}
	return each
}

// queues of tasks, those of history and those of matching, and how far they have been read.
var queues = []string{"transfer_tasks", "visibility_tasks", "tasks", "shards", "task_queues"}

func forLists(table string) bool {
	return strings.Contains(table, "executions_visibility") || strings.Contains(table, "search_attributes")
}

// FileBytes is the content of a database on SQLite with its indexes, while it is in use.
func FileBytes(ctx context.Context, path string) (all int64, err error) {
	db, err := readOnly(path)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	err = db.QueryRowContext(ctx, "SELECT coalesce(sum(payload), 0) FROM dbstat").Scan(&all)
	return all, err
}

func readOnly(path string) (*sql.DB, error) {
	return sql.Open("sqlite", "file:"+(&url.URL{Path: path}).EscapedPath()+"?mode=ro&_pragma=busy_timeout(5000)")
}

// TableBytes weighs a Temporal's database on SQLite while it runs.
func TableBytes(ctx context.Context, path string) (_ Bytes, err error) {
	db, err := readOnly(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	rows, err := db.QueryContext(ctx, "SELECT m.tbl_name, sum(s.payload) FROM dbstat AS s JOIN sqlite_schema AS m ON m.name = s.name GROUP BY m.tbl_name")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	all := Bytes{}
	for rows.Next() {
		var table string
		var size int64
		if err := rows.Scan(&table, &size); err != nil {
			return nil, err
		}
		all[table] += size
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	// Temporal removes timers that are over, such as those of workflow tasks, when it likes:
	// how many are left says nothing of what waits.
	var waiting int64
	err = db.QueryRowContext(ctx, "SELECT coalesce(sum(length(data) + length(data_encoding) + 2 * length(visibility_timestamp) + ?), 0) FROM timer_tasks WHERE visibility_timestamp > ?",
		timerKeys, time.Now().Add(farOff).UTC().Format(time.DateTime)).Scan(&waiting)
	all[timers] = waiting
	return all, err
}

// timers is the table of what has to be done at a time. What waits is due later than
// farOff.
const (
	timers = "timer_tasks"
	// timerKeys is what the numbers of a row and of its entry in the index take, with their
	// headers.
	timerKeys = 22
	farOff    = time.Hour
)
