package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"gnomon/store"
)

// model is what the documentation of store.Actions says, in the simplest words.
type model struct {
	now  time.Time
	rows map[string]*modelRow
}

type modelRow struct {
	store.Row
	expires time.Time
}

// standing is the row of an id, or nil; an expired tombstone does not stand.
func (m *model) standing(id string) *modelRow {
	r := m.rows[id]
	if r != nil && r.Tombstone && !m.now.Before(r.expires) {
		return nil
	}
	return r
}

func (m *model) write(r store.Row) bool {
	if had := m.standing(r.Action.GetMeta().GetId()); had != nil && r.DeletedBy == "" {
		r.DeletedBy = had.DeletedBy
	}
	m.rows[r.Action.GetMeta().GetId()] = &modelRow{Row: r, expires: m.now.Add(ttl)}
	return true
}

func (m *model) put(r store.Row) bool {
	had := m.standing(r.Action.GetMeta().GetId())
	return (had == nil || newer(r.Revision, had.Revision)) && m.write(r)
}

func (m *model) insert(r store.Row) bool {
	r.Revision = store.Revision{}
	if had := m.standing(r.Action.GetMeta().GetId()); had != nil {
		if !had.Tombstone || had.Chain == r.Chain {
			return false
		}
		r.Revision = had.Revision
	}
	return m.write(r)
}

var modelTests = []test{
	// Whatever is done in whatever order, what is seen is what the documentation says.
	{"any sequence of calls does what the documentation says", func(t *testing.T, b *bundle) {
		var iteration int
		rapid.Check(t, func(t *rapid.T) {
			iteration++
			m := &model{now: b.clock.Now(), rows: map[string]*modelRow{}}
			names := []string{fmt.Sprintf("m%d-a", iteration), fmt.Sprintf("m%d-b", iteration)}
			written := uint64(0)
			draw := func() store.Row {
				written++
				r := row(rapid.SampledFrom(names).Draw(t, "id"), counted(written),
					revision(revisions().Draw(t, "revision")),
					chain(rapid.SampledFrom([]string{"one", "two"}).Draw(t, "chain")))
				r.Tombstone = rapid.Bool().Draw(t, "tombstone")
				r.DeletedBy = rapid.SampledFrom([]string{"", "", "r-1", "r-2"}).Draw(t, "deleted by")
				return r
			}
			t.Repeat(map[string]func(*rapid.T){
				"put": func(t *rapid.T) {
					rows := make([]store.Row, rapid.IntRange(1, 3).Draw(t, "rows"))
					want := make([]bool, len(rows))
					for i := range rows {
						rows[i] = draw()
						want[i] = m.put(rows[i])
					}
					got, err := b.PutActions(background, rows)
					require.NoError(t, err)
					require.Equal(t, want, got)
				},
				"insert": func(t *rapid.T) {
					r := draw()
					r.Tombstone = false
					require.Equal(t, m.insert(r), b.insert(t, r))
				},
				"wait": func(t *rapid.T) {
					d := time.Duration(rapid.IntRange(1, 4).Draw(t, "quarters")) * ttl / 4
					b.clock.advance(d)
					m.now = m.now.Add(d)
				},
				"purge": func(t *rapid.T) {
					_, err := b.PurgeActions(background, rapid.IntRange(1, 3).Draw(t, "limit"))
					require.NoError(t, err)
				},
				"": func(t *rapid.T) {
					living, all := []string{}, []string{}
					for _, id := range names {
						r := m.standing(id)
						if r == nil {
							b.requireNone(t, id)
							continue
						}
						b.requireRow(t, r.Row)
						all = append(all, id)
						if !r.Tombstone {
							living = append(living, id)
						}
					}
					q := store.ActionQuery{Order: store.ByID, IDPrefix: fmt.Sprintf("m%d-", iteration)}
					require.Equal(t, living, b.list(t, q))
					q.ShowFinished = true
					require.Equal(t, all, b.list(t, q))
				},
			})
		})
	}},
}
