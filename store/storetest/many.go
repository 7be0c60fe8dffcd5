package storetest

import (
	"fmt"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gnomon/store"
)

// EnvRows says how many rows Many writes, such as 200000. Without it they are
// fewer, so that every run of the tests has them.
const EnvRows = "GNOMON_TEST_ROWS"

// fewRows are as many as a run has time for.
const fewRows = 10_000

// Many writes many rows and pages through them in each order and direction: each is
// seen exactly once (issue 4).
func Many(t *testing.T, open func(t *testing.T, o Options) store.Actions) {
	t.Helper()
	count := fewRows
	if text := os.Getenv(EnvRows); text != "" {
		var err error
		count, err = strconv.Atoi(text)
		require.NoError(t, err, EnvRows)
	}
	b := setup(t, open)
	begin := time.Now()
	load(t, b, count)
	t.Logf("%d rows were written in %s", count, time.Since(begin).Round(time.Millisecond))
	for _, order := range []store.ActionOrder{store.ByScheduledAt, store.ByID} {
		for _, descending := range []bool{false, true} {
			begin = time.Now()
			seen, longest := walk(t, b, store.ActionQuery{Order: order, Descending: descending, Limit: 1000})
			require.Len(t, seen, count)
			t.Logf("order %d, descending %t: %s, the longest page %s", order, descending,
				time.Since(begin).Round(time.Millisecond), longest.Round(time.Millisecond))
		}
	}
}

// load writes rows with several clients; a hundred each are due together.
func load(t *testing.T, b *bundle, count int) {
	t.Helper()
	const clients, call = 4, 500
	errs := make([]error, clients)
	var wg sync.WaitGroup
	for client := range clients {
		wg.Go(func() {
			for first := client * call; first < count && errs[client] == nil; first += clients * call {
				rows := make([]store.Row, min(call, count-first))
				for i := range rows {
					n := first + i
					rows[i] = row(fmt.Sprintf("row-%07d", n), due(epoch.Add(time.Duration(n*7919%count/100)*time.Second)))
				}
				_, errs[client] = b.PutActions(t.Context(), rows)
			}
		})
	}
	wg.Wait()
	for _, err := range errs {
		require.NoError(t, err)
	}
}

// walk pages through all rows and fails where one comes twice or out of order.
func walk(t *testing.T, b *bundle, q store.ActionQuery) (map[string]bool, time.Duration) {
	t.Helper()
	seen := map[string]bool{}
	var longest time.Duration
	var last *store.Row
	for {
		begin := time.Now()
		page, err := b.ListActions(t.Context(), q)
		require.NoError(t, err)
		longest = max(longest, time.Since(begin))
		for i := range page {
			id := page[i].Action.GetMeta().GetId()
			require.False(t, seen[id], "%s came twice", id)
			seen[id] = true
			if last != nil {
				first := search([]store.Row{page[i], *last}, q)[0].Action.GetMeta().GetId()
				require.Equal(t, last.Action.GetMeta().GetId(), first, "%s is out of order", id)
			}
			last = &page[i]
		}
		if len(page) < q.Limit {
			return seen, longest
		}
		q.After = position(page[len(page)-1])
	}
}
