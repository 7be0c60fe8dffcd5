package sqlite

import (
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gnomon/store"
)

var (
	lower = regexp.MustCompile(`(status_scheduled_at|meta_action_id|scheduled_at|\bid)(, \w+\))? >`)
	upper = regexp.MustCompile(`(status_scheduled_at|meta_action_id|scheduled_at|\bid)(, \w+\))? <`)
)

// Issue 8: a page among a million rows costs what one among a thousand does, also with a
// filter by the column of the order. Of two lower bounds SQLite begins at either, and with
// the wrong one it read all rows before the page: 8 ms of 9 among 100,000.
func TestPagesBeginAndEndAtOneBound(t *testing.T) {
	t.Parallel()
	noon := time.Unix(1000, 0)
	at := func(d time.Duration) *store.ActionPosition {
		return &store.ActionPosition{ID: "job-5", ScheduledAt: noon.Add(d)}
	}
	for name, q := range map[string]store.ActionQuery{
		"from":                   {DueFrom: noon},
		"from, before the years": {DueFrom: time.Time{}.Add(-time.Hour)},
		"before":                 {DueBefore: noon},
		"both":                   {DueFrom: noon, DueBefore: noon.Add(time.Hour)},
		"the next page":          {DueFrom: noon, DueBefore: noon.Add(time.Hour), After: at(0)},
		"a later page":           {DueFrom: noon, DueBefore: noon.Add(time.Hour), After: at(time.Minute)},
		"a later page, backward": {DueFrom: noon, DueBefore: noon.Add(time.Hour), After: at(time.Minute), Descending: true},
		"a page without a range": {DueBefore: noon, After: at(-time.Minute)},
		"prefix":                 {Order: store.ByID, IDPrefix: "job-"},
		"next of a prefix":       {Order: store.ByID, IDPrefix: "job-", After: at(0)},
		"backward in a prefix":   {Order: store.ByID, IDPrefix: "job-", After: at(0), Descending: true},
	} {
		q.Limit = 100
		actions, _, err := listStatement(q, noon)
		require.NoError(t, err, name)
		batches, _, err := listBatchesStatement(store.BatchQuery{
			Order: q.Order, Descending: q.Descending, After: q.After, IDPrefix: q.IDPrefix, DueFrom: q.DueFrom, DueBefore: q.DueBefore, Limit: q.Limit,
		})
		require.NoError(t, err, name)
		for _, statement := range []string{actions, batches} {
			require.LessOrEqual(t, len(lower.FindAllString(statement, -1)), 1, "%s: %s", name, statement)
			require.LessOrEqual(t, len(upper.FindAllString(statement, -1)), 1, "%s: %s", name, statement)
		}
	}
}

// A position that lies outside of the range says nothing of its ends.
func TestPositionOutsideOfTheRange(t *testing.T) {
	t.Parallel()
	noon := time.Unix(1000, 0)
	for _, q := range []store.ActionQuery{
		{DueFrom: noon, After: &store.ActionPosition{ScheduledAt: noon.Add(-time.Second)}},
		{DueBefore: noon, Descending: true, After: &store.ActionPosition{ScheduledAt: noon}},
		{Order: store.ByID, IDPrefix: "b", After: &store.ActionPosition{ID: "a"}},
		{Order: store.ByID, IDPrefix: "b", Descending: true, After: &store.ActionPosition{ID: "ca"}},
		{Order: store.ByID, DueFrom: noon, After: &store.ActionPosition{ID: "a"}},
		{IDPrefix: "b", After: &store.ActionPosition{ID: "z", ScheduledAt: noon}},
	} {
		q.Limit = 1
		statement, _, err := listStatement(q, noon)
		require.NoError(t, err)
		require.Regexp(t, `@due_from|@due_before|@id_from`, statement, "%+v", q)
		if q.IDPrefix != "" {
			require.Contains(t, statement, "@id_before", "%+v", q)
		}
	}
}
