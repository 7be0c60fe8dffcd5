package storetest

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"gnomon/store"
)

// writers is how many clients write at once (F9 of faults.md).
const writers = 64

// together runs f once for each client, all released at the same moment, and
// fails the test with the first error.
func together(t *testing.T, f func(client int) error) {
	t.Helper()
	errs := make([]error, writers)
	release := make(chan struct{})
	var wg sync.WaitGroup
	for client := range writers {
		wg.Go(func() {
			<-release
			errs[client] = f(client)
		})
	}
	close(release)
	wg.Wait()
	for _, err := range errs {
		require.NoError(t, err)
	}
}

var concurrencyTests = []test{
	{"of many writers of one id the newest stands", func(t *testing.T, b *bundle) {
		var newestApplied atomic.Bool
		together(t, func(client int) error {
			applied, err := b.PutActions(t.Context(), []store.Row{
				row("a", revision(at(uint64(client+1))), counted(uint64(client))),
			})
			if err == nil && client == writers-1 {
				newestApplied.Store(applied[0])
			}
			return err
		})
		require.True(t, newestApplied.Load())
		b.requireRow(t, row("a", revision(at(writers)), counted(writers-1)))
	}},
	{"of many writers of one revision exactly one applies", func(t *testing.T, b *bundle) {
		var winners atomic.Int32
		var winner atomic.Int64
		together(t, func(client int) error {
			applied, err := b.PutActions(t.Context(), []store.Row{row("a", counted(uint64(client)))})
			if err == nil && applied[0] {
				winners.Add(1)
				winner.Store(int64(client))
			}
			return err
		})
		require.EqualValues(t, 1, winners.Load())
		b.requireRow(t, row("a", counted(uint64(winner.Load()))))
	}},
	{"of many inserts of one id exactly one applies", func(t *testing.T, b *bundle) {
		b.putAll(t, row("buried", revision(at(5)), chain("old"), ended))
		for id, keeps := range map[string]store.Revision{"fresh": {}, "buried": at(5)} {
			var winners atomic.Int32
			var winner atomic.Int64
			together(t, func(client int) error {
				applied, err := b.InsertAction(t.Context(), row(id, chain(fmt.Sprint(client))))
				if err == nil && applied {
					winners.Add(1)
					winner.Store(int64(client))
				}
				return err
			})
			require.EqualValues(t, 1, winners.Load())
			b.requireRow(t, row(id, chain(fmt.Sprint(winner.Load())), revision(keeps)))
		}
	}},
	{"many writers of different ids all apply", func(t *testing.T, b *bundle) {
		const each = 5
		together(t, func(client int) error {
			for i := range each {
				applied, err := b.PutActions(t.Context(), []store.Row{
					row(fmt.Sprintf("one-%02d-%d", client, i)), row(fmt.Sprintf("two-%02d-%d", client, i)),
				})
				if err != nil {
					return err
				}
				if !slices.Equal([]bool{true, true}, applied) {
					return fmt.Errorf("client %d was told %v", client, applied)
				}
			}
			return nil
		})
		require.Len(t, b.list(t, store.ActionQuery{}), writers*each*2)
	}},
	// (7) of faults.md: the mirror never goes back to an older revision.
	{"a reader among writers never sees a revision go back", func(t *testing.T, b *bundle) {
		b.putAll(t, row("a", revision(at(0))))
		together(t, func(client int) error {
			if client%2 == 0 {
				_, err := b.PutActions(t.Context(), []store.Row{row("a", revision(at(uint64(client))), counted(uint64(client)))})
				return err
			}
			var last store.Revision
			for range 20 {
				got, err := b.GetAction(t.Context(), "a")
				if err != nil {
					return err
				}
				if newer(last, got.Revision) {
					return fmt.Errorf("revision %v was seen after %v", got.Revision, last)
				}
				if got.Action.GetStatus().GetSuccessfulAttemptsCounter() != got.Revision.Sequence {
					return fmt.Errorf("revision %v holds the content of another", got.Revision)
				}
				last = got.Revision
			}
			return nil
		})
	}},
	{"writers, purges and lists at once do not disturb one another", func(t *testing.T, b *bundle) {
		for i := range writers {
			b.putAll(t, row(fmt.Sprintf("expired-%02d", i), ended))
		}
		b.clock.advance(ttl)
		var purged atomic.Int64
		together(t, func(client int) error {
			if _, err := b.PutActions(t.Context(), []store.Row{row(fmt.Sprintf("live-%02d", client))}); err != nil {
				return err
			}
			n, err := b.PurgeActions(t.Context(), 3)
			if err != nil {
				return err
			}
			purged.Add(int64(n))
			rows, err := b.ListActions(t.Context(), store.ActionQuery{ShowFinished: true, Limit: 1000})
			if err == nil && !slices.Contains(ids(rows), fmt.Sprintf("live-%02d", client)) {
				err = fmt.Errorf("client %d does not see its own write", client)
			}
			return err
		})
		require.EqualValues(t, writers, purged.Load())
		require.Len(t, b.list(t, store.ActionQuery{}), writers)
	}},
}
