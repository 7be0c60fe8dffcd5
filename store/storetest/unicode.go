package storetest

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/store"
)

// unicodeIDs are texts that differ in ways a database may overlook, in the order of
// their bytes. Stores hold more than the rule of Meta.id allows.
var unicodeIDs = slices.Sorted(slices.Values([]string{
	"\x00", "\x00a", " ", " a", "%", "A", "A\u0301", "a", "a\x00", "a\x00b", "a ", "a\u0301", "b", "ss",
	"\x7f", "\u0080", "ß", "Á", "á", "ı", "ſ", "\u200b", "\u2028", "日", "日本", "日本語", "\ud7ff", "\ue000", "ﬀ", "\ufeff", "\uffff",
	"🙂", "🙂🙂", "\U0010ffff", "\U0010ffff\U0010ffff",
}))

var unicodeTests = []test{
	{"ids of any text are told apart and ordered by their bytes", func(t *testing.T, b *bundle) {
		for i, id := range slices.Backward(unicodeIDs) {
			b.putAll(t, row(id, counted(uint64(i))))
		}
		for i, id := range unicodeIDs {
			b.requireRow(t, row(id, counted(uint64(i))))
			require.Equal(t, []string{id}, b.list(t, store.ActionQuery{ID: id}), "%q", id)
			require.False(t, b.put(t, row(id)), "%q stands already", id)
		}
		for _, order := range []store.ActionOrder{store.ByID, store.ByScheduledAt} {
			q := store.ActionQuery{Order: order, Limit: 4}
			require.Equal(t, unicodeIDs, ids(pages(t, b, q)), "order %d", order)
			q.Descending = true
			require.Equal(t, reversed(unicodeIDs), ids(pages(t, b, q)), "order %d, descending", order)
		}
	}},
	{"prefixes of any text find what begins with them", func(t *testing.T, b *bundle) {
		for _, id := range unicodeIDs {
			b.putAll(t, row(id))
		}
		for _, prefix := range append(slices.Clone(unicodeIDs), "本", "a\u0300", "\ud7fe", "🙃") {
			want := []string{}
			for _, id := range unicodeIDs {
				if strings.HasPrefix(id, prefix) {
					want = append(want, id)
				}
			}
			require.Equal(t, want, b.list(t, store.ActionQuery{IDPrefix: prefix, Order: store.ByID}), "%q", prefix)
		}
	}},
	{"what is no text is found nowhere and refused as an id", func(t *testing.T, b *bundle) {
		b.putAll(t, row("a"))
		for _, broken := range []string{"\xff", "a\xff", "\xed\xa0\x80", "\xc3"} {
			b.requireNone(t, broken)
			require.Empty(t, b.list(t, store.ActionQuery{ID: broken}))
			require.Empty(t, b.list(t, store.ActionQuery{IDPrefix: broken}))
			_, err := b.PutActions(t.Context(), []store.Row{row(broken)})
			require.Error(t, err)
			_, err = b.InsertAction(t.Context(), row(broken))
			require.Error(t, err)
		}
		require.Equal(t, []string{"a"}, b.list(t, store.ActionQuery{}))
	}},
	{"many labels of any text are found one by one and together", func(t *testing.T, b *bundle) {
		all := map[string]string{}
		for i, text := range unicodeIDs {
			all[text] = unicodeIDs[len(unicodeIDs)-1-i]
		}
		b.putAll(t, row("a", labels(all)), row("b", labels(map[string]string{"a": "&b=c&", "b": "c=", "=": "&"})))
		for key, value := range all {
			require.Equal(t, []string{"a"}, b.list(t, store.ActionQuery{Labels: map[string]string{key: value}}), "%q=%q", key, value)
			require.Empty(t, b.list(t, store.ActionQuery{Labels: map[string]string{key: value + "x"}}))
		}
		require.Equal(t, []string{"a"}, b.list(t, store.ActionQuery{Labels: all}))
		require.Equal(t, []string{"b"}, b.list(t, store.ActionQuery{Labels: map[string]string{"a": "&b=c&", "=": "&"}}))
		require.Empty(t, b.list(t, store.ActionQuery{Labels: map[string]string{"b": "c"}}), "a label within another")
	}},
	{"a row of 1 MB comes back, and some in one call", func(t *testing.T, b *bundle) {
		var rows []store.Row
		for i := range 4 {
			big := row(rowName(i))
			body := make([]byte, 1<<20)
			for j := range body {
				body[j] = byte(i + j)
			}
			big.Action.Spec.Action = &gnomonv1.Action{Action: &gnomonv1.Action_HttpRequest{HttpRequest: &gnomonv1.HttpRequest{Body: body}}}
			rows = append(rows, big)
		}
		b.putAll(t, rows...)
		for _, r := range rows {
			b.requireRow(t, r)
		}
		listed, err := b.ListActions(t.Context(), store.ActionQuery{Order: store.ByID, Limit: 10})
		require.NoError(t, err)
		require.Len(t, listed, len(rows))
		requireEqual(t, rows[3], listed[3])
	}},
}
