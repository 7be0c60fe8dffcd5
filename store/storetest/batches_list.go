package storetest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/timestamppb"
	"pgregory.net/rapid"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/store"
)

var batchListTests = []batchTest{
	{"lists have no changes and no problems of them", func(t *testing.T, b *batchBundle) {
		b.accept(t, aBatch("a", "uid-1", 2))
		rows, err := b.ListBatches(t.Context(), store.BatchQuery{Limit: 10})
		require.NoError(t, err)
		require.Len(t, rows, 1)
		head := accepted(aBatch("a", "uid-1", 2))
		head.Changes = nil
		requireProto(t, head, rows[0].Batch)
	}},
	{"a limit below 1 is an error", func(t *testing.T, b *batchBundle) {
		_, err := b.ListBatches(t.Context(), store.BatchQuery{})
		require.ErrorContains(t, err, "BatchQuery.Limit must be at least 1, but is 0")
		_, err = b.ListBatches(t.Context(), store.BatchQuery{Limit: 1, Order: 9})
		require.ErrorContains(t, err, "BatchQuery.Order must be ByScheduledAt or ByID, but is 9")
	}},
	{"any filter, order and page size find what a plain search finds", func(t *testing.T, b *batchBundle) {
		all := variedBatches(t, b)
		rapid.Check(t, func(t *rapid.T) {
			q := batchQueries().Draw(t, "query")
			require.Equal(t, batchIDs(searchBatches(all, q)), batchIDs(batchPages(t, b, q)))
		})
	}},
}

// batchPages follows a query from page to page until the end.
func batchPages(t require.TestingT, b *batchBundle, q store.BatchQuery) []*gnomonv1.Batch {
	all := []*gnomonv1.Batch{}
	for {
		page, err := b.ListBatches(background, q)
		require.NoError(t, err)
		require.LessOrEqual(t, len(page), q.Limit)
		for _, row := range page {
			all = append(all, row.Batch)
		}
		if len(page) < q.Limit {
			return all
		}
		require.Less(t, len(all), 10_000, "the pages do not end")
		last := page[len(page)-1].Batch
		q.After = &store.ActionPosition{ScheduledAt: last.GetScheduledAt().AsTime(), ID: last.GetId()}
	}
}

func batchIDs(all []*gnomonv1.Batch) []string {
	ids := make([]string, len(all))
	for i, b := range all {
		ids[i] = b.GetId()
	}
	return ids
}

// variedBatches are batches of which every filter finds some.
func variedBatches(t *testing.T, b *batchBundle) []*gnomonv1.Batch {
	t.Helper()
	var all []*gnomonv1.Batch
	for i := range 60 {
		one := aBatch(fmt.Sprintf("%s%d", []string{"a", "a_", "b-", "B"}[i%4], i), fmt.Sprintf("uid-%d", i), 1)
		one.ScheduledAt = timestamppb.New(epoch.Add(time.Duration(i%11) * time.Second))
		one.Labels = map[string]string{"x": fmt.Sprint(i % 2), "y": fmt.Sprint(i % 7)}
		b.accept(t, one)
		_, err := b.PutBatch(t.Context(), store.BatchWrite{Head: headOf(one, 1, gnomonv1.BatchStatus_State(i%7+1), 0)})
		require.NoError(t, err)
		one.Status = &gnomonv1.BatchStatus{State: gnomonv1.BatchStatus_State(i%7 + 1)}
		all = append(all, one)
	}
	return all
}

// batchQueries draws queries over what variedBatches has.
func batchQueries() *rapid.Generator[store.BatchQuery] {
	return rapid.Custom(func(t *rapid.T) store.BatchQuery {
		when := rapid.Map(rapid.IntRange(-1, 11), func(i int) time.Time {
			if i < 0 {
				return time.Time{}
			}
			return epoch.Add(time.Duration(i) * time.Second)
		})
		state := rapid.Map(rapid.IntRange(1, 8), func(i int) gnomonv1.BatchStatus_State { return gnomonv1.BatchStatus_State(i) })
		return store.BatchQuery{
			States:     rapid.SliceOfN(state, 0, 3).Draw(t, "states"),
			Labels:     rapid.MapOfN(rapid.SampledFrom([]string{"x", "y"}), rapid.SampledFrom([]string{"0", "1"}), 0, 2).Draw(t, "labels"),
			ID:         rapid.SampledFrom([]string{"", "", "", "a_1"}).Draw(t, "id"),
			IDPrefix:   rapid.SampledFrom([]string{"", "", "a", "a_", "b-1", "B"}).Draw(t, "prefix"),
			DueFrom:    when.Draw(t, "from"),
			DueBefore:  when.Draw(t, "before"),
			Order:      rapid.SampledFrom([]store.ActionOrder{store.ByScheduledAt, store.ByID}).Draw(t, "order"),
			Descending: rapid.Bool().Draw(t, "descending"),
			Limit:      rapid.IntRange(1, 70).Draw(t, "limit"),
		}
	})
}

// searchBatches is a list in the simplest words.
func searchBatches(all []*gnomonv1.Batch, q store.BatchQuery) []*gnomonv1.Batch {
	found := slices.DeleteFunc(slices.Clone(all), func(b *gnomonv1.Batch) bool { return !batchMatches(b, q) })
	slices.SortFunc(found, func(a, b *gnomonv1.Batch) int {
		order := strings.Compare(a.GetId(), b.GetId())
		if q.Order == store.ByScheduledAt {
			order = cmp.Or(a.GetScheduledAt().AsTime().Compare(b.GetScheduledAt().AsTime()), order)
		}
		if q.Descending {
			return -order
		}
		return order
	})
	return found
}

func batchMatches(b *gnomonv1.Batch, q store.BatchQuery) bool {
	when := b.GetScheduledAt().AsTime()
	for key, value := range q.Labels {
		if had, ok := b.GetLabels()[key]; !ok || had != value {
			return false
		}
	}
	return (len(q.States) == 0 || slices.Contains(q.States, b.GetStatus().GetState())) &&
		(q.ID == "" || b.GetId() == q.ID) &&
		strings.HasPrefix(b.GetId(), q.IDPrefix) &&
		(q.DueFrom.IsZero() || !when.Before(q.DueFrom)) &&
		(q.DueBefore.IsZero() || when.Before(q.DueBefore))
}
