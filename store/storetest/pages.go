package storetest

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/store"
)

var pageTests = []test{
	{"pages of any size give each row once, ties too", func(t *testing.T, b *bundle) {
		var rows []store.Row
		for i := range 24 {
			when := epoch.Add(time.Duration(i/6) * time.Microsecond) // six of each
			if i < 6 {
				when = time.Time{}
			}
			rows = append(rows, row(rowName((i*7)%24), due(when)))
		}
		b.putAll(t, rows...)
		for _, order := range []store.ActionOrder{store.ByScheduledAt, store.ByID} {
			for _, descending := range []bool{false, true} {
				q := store.ActionQuery{Order: order, Descending: descending}
				want := b.list(t, q)
				require.Len(t, want, 24)
				for limit := 1; limit <= 25; limit++ {
					q.Limit = limit
					require.Equal(t, want, ids(pages(t, b, q)), "order %d, descending %t, limit %d", order, descending, limit)
				}
			}
		}
	}},
	{"rows that change between pages neither shift nor hide others", func(t *testing.T, b *bundle) {
		for i := range 40 {
			b.putAll(t, row(rowName(i), due(epoch.Add(time.Duration(i)*time.Second))))
		}
		q := store.ActionQuery{Limit: 10, Order: store.ByScheduledAt}
		first, err := b.ListActions(t.Context(), q)
		require.NoError(t, err)
		require.Equal(t, rowName(9), first[9].Action.GetMeta().GetId())

		b.putAll(t,
			row("early", due(epoch)),                                    // before the position: not seen
			row("late", due(epoch.Add(15500*time.Millisecond))),         // after it: seen in its place
			row(rowName(9), revision(at(2)), ended),                     // the last row of the page itself ends
			row(rowName(12), revision(at(2)), ended),                    // one that is still to come ends
			row(rowName(20), revision(at(2)), due(epoch)),               // one moves before the position
			row(rowName(3), revision(at(2)), due(epoch.Add(time.Hour))), // one that was seen moves to the end
		)
		q.After = position(first[9])
		var want []string
		for i := 10; i < 40; i++ {
			if i == 16 {
				want = append(want, "late")
			}
			if i != 12 && i != 20 {
				want = append(want, rowName(i))
			}
		}
		require.Equal(t, append(want, rowName(3)), ids(pages(t, b, q)))
	}},
	{"after a position where no row stands", func(t *testing.T, b *bundle) {
		b.putAll(t, row("a", due(epoch)), row("c", due(epoch)), row("e", due(epoch.Add(time.Second))))
		after := func(when time.Time, id string, order store.ActionOrder, descending bool) []string {
			return b.list(t, store.ActionQuery{
				After: &store.ActionPosition{ScheduledAt: when, ID: id}, Order: order, Descending: descending,
			})
		}
		require.Equal(t, []string{"c", "e"}, after(epoch, "b", store.ByScheduledAt, false))
		require.Equal(t, []string{"e"}, after(epoch.Add(time.Millisecond), "a", store.ByScheduledAt, false))
		require.Equal(t, []string{"a"}, after(epoch, "b", store.ByScheduledAt, true))
		require.Equal(t, []string{"a", "c", "e"}, after(time.Time{}, "z", store.ByScheduledAt, false))
		require.Equal(t, []string{"e"}, after(time.Time{}, "d", store.ByID, false), "the time does not count")
		require.Equal(t, []string{"c", "a"}, after(time.Time{}, "d", store.ByID, true))
		require.Empty(t, after(epoch.Add(time.Second), "e", store.ByScheduledAt, false))
	}},
	{"any filter, order and page size find what a plain search finds", func(t *testing.T, b *bundle) {
		rows := varied()
		b.putAll(t, rows...)
		rapid.Check(t, func(t *rapid.T) {
			q := queries().Draw(t, "query")
			want := search(rows, q)
			require.Equal(t, ids(want), ids(pages(t, b, q)))
		})
	}},
}

// pages follows a query from page to page until the end.
func pages(t require.TestingT, b *bundle, q store.ActionQuery) []store.Row {
	all := []store.Row{}
	for {
		page, err := b.ListActions(background, q)
		require.NoError(t, err)
		require.LessOrEqual(t, len(page), q.Limit)
		all = append(all, page...)
		if len(page) < q.Limit {
			return all
		}
		require.Less(t, len(all), 10_000, "the pages do not end")
		q.After = position(page[len(page)-1])
	}
}

// position is where a page ends with this row.
func position(r store.Row) *store.ActionPosition {
	p := &store.ActionPosition{ID: r.Action.GetMeta().GetId()}
	if at := r.Action.GetStatus().GetScheduledAt(); at != nil {
		p.ScheduledAt = at.AsTime()
	}
	return p
}

// varied are rows of which every filter finds some.
func varied() []store.Row {
	var rows []store.Row
	for i := range 120 {
		r := row(fmt.Sprintf("%s%d", []string{"a", "a_", "b-", "B"}[i%4], i),
			state(gnomonv1.Status_State(i%5+1)),
			performs([]*gnomonv1.Action{mockAction(), pushAction(), httpAction()}[i%3]),
			labels(map[string]string{"x": fmt.Sprint(i % 2), "y": fmt.Sprint(i % 7)}),
			due(epoch.Add(time.Duration(i%11)*time.Second)))
		if i%13 == 0 {
			due(time.Time{})(&r)
		}
		r.Tombstone = i%6 == 0
		rows = append(rows, r)
	}
	return rows
}

// queries draws queries over what varied has.
func queries() *rapid.Generator[store.ActionQuery] {
	return rapid.Custom(func(t *rapid.T) store.ActionQuery {
		when := rapid.Map(rapid.IntRange(-1, 11), func(i int) time.Time {
			if i < 0 {
				return time.Time{}
			}
			return epoch.Add(time.Duration(i) * time.Second)
		})
		return store.ActionQuery{
			States:       rapid.SliceOfN(rapid.Map(rapid.IntRange(0, 8), func(i int) gnomonv1.Status_State { return gnomonv1.Status_State(i) }), 0, 3).Draw(t, "states"),
			Kinds:        rapid.SliceOfN(rapid.SampledFrom([]string{"mock_action", "send_technical_push", "http_request"}), 0, 2).Draw(t, "kinds"),
			Labels:       rapid.MapOfN(rapid.SampledFrom([]string{"x", "y"}), rapid.SampledFrom([]string{"0", "1"}), 0, 2).Draw(t, "labels"),
			ID:           rapid.SampledFrom([]string{"", "", "", "a_1"}).Draw(t, "id"),
			IDPrefix:     rapid.SampledFrom([]string{"", "", "a", "a_", "b-1", "B"}).Draw(t, "prefix"),
			DueFrom:      when.Draw(t, "from"),
			DueBefore:    when.Draw(t, "before"),
			ShowFinished: rapid.Bool().Draw(t, "finished"),
			Order:        rapid.SampledFrom([]store.ActionOrder{store.ByScheduledAt, store.ByID}).Draw(t, "order"),
			Descending:   rapid.Bool().Draw(t, "descending"),
			Limit:        rapid.IntRange(1, 130).Draw(t, "limit"),
		}
	})
}

// search is a list in the simplest words.
func search(rows []store.Row, q store.ActionQuery) []store.Row {
	found := slices.DeleteFunc(slices.Clone(rows), func(r store.Row) bool { return !matches(r, q) })
	slices.SortFunc(found, func(a, b store.Row) int {
		order := strings.Compare(a.Action.GetMeta().GetId(), b.Action.GetMeta().GetId())
		if q.Order == store.ByScheduledAt {
			order = cmp.Or(position(a).ScheduledAt.Compare(position(b).ScheduledAt), order)
		}
		if q.Descending {
			return -order
		}
		return order
	})
	return found
}

func matches(r store.Row, q store.ActionQuery) bool {
	meta, status := r.Action.GetMeta(), r.Action.GetStatus()
	when := position(r).ScheduledAt
	ranged := !q.DueFrom.IsZero() || !q.DueBefore.IsZero()
	has := maps.Clone(meta.GetLabels())
	maps.Copy(has, q.Labels)
	return (q.ShowFinished || !r.Tombstone) &&
		(len(q.States) == 0 || slices.Contains(q.States, status.GetState())) &&
		(len(q.Kinds) == 0 || slices.Contains(q.Kinds, kindOf(r))) &&
		maps.Equal(has, meta.GetLabels()) &&
		(q.ID == "" || meta.GetId() == q.ID) &&
		strings.HasPrefix(meta.GetId(), q.IDPrefix) &&
		(!ranged || !when.IsZero()) &&
		(q.DueFrom.IsZero() || !when.Before(q.DueFrom)) &&
		(q.DueBefore.IsZero() || when.Before(q.DueBefore))
}

// kindOf names the case of the rows that varied makes.
func kindOf(r store.Row) string {
	switch r.Action.GetSpec().GetAction().GetAction().(type) {
	case *gnomonv1.Action_MockAction:
		return "mock_action"
	case *gnomonv1.Action_SendTechnicalPush:
		return "send_technical_push"
	case *gnomonv1.Action_HttpRequest:
		return "http_request"
	default:
		return ""
	}
}

// rowName gives ids whose order is that of the numbers.
func rowName(i int) string { return fmt.Sprintf("row-%03d", i) }

func reversed(names []string) []string {
	names = slices.Clone(names)
	slices.Reverse(names)
	return names
}
