package storetest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/store"
)

var listTests = []test{
	{"an empty store lists nothing", func(t *testing.T, b *bundle) {
		require.Empty(t, b.list(t, store.ActionQuery{ShowFinished: true}))
	}},
	{"by state", func(t *testing.T, b *bundle) {
		b.putAll(t, row("a", state(gnomonv1.Status_SCHEDULED)), row("b", state(gnomonv1.Status_PAUSED)),
			row("c", state(gnomonv1.Status_RETRYING)), row("d", ended))
		by := func(states ...gnomonv1.Status_State) store.ActionQuery {
			return store.ActionQuery{States: states, ShowFinished: true}
		}
		require.Equal(t, []string{"b"}, b.list(t, by(gnomonv1.Status_PAUSED)))
		require.Equal(t, []string{"a", "c"}, b.list(t, by(gnomonv1.Status_RETRYING, gnomonv1.Status_SCHEDULED)))
		require.Equal(t, []string{"d"}, b.list(t, by(gnomonv1.Status_SUCCEEDED)))
		require.Empty(t, b.list(t, by(gnomonv1.Status_RUNNING)))
		require.Empty(t, b.list(t, store.ActionQuery{States: []gnomonv1.Status_State{gnomonv1.Status_SUCCEEDED}}))
		b.putAll(t, row("b", state(gnomonv1.Status_RUNNING), revision(at(2))))
		require.Equal(t, []string{"b"}, b.list(t, by(gnomonv1.Status_RUNNING)), "a column follows its blob")
		require.Empty(t, b.list(t, by(gnomonv1.Status_PAUSED)))
	}},
	{"by kind", func(t *testing.T, b *bundle) {
		b.putAll(t, row("a", performs(mockAction())), row("b", performs(pushAction())),
			row("c", performs(httpAction())), row("d", performs(nil)))
		by := func(kinds ...string) store.ActionQuery { return store.ActionQuery{Kinds: kinds} }
		require.Equal(t, []string{"a"}, b.list(t, by("mock_action")))
		require.Equal(t, []string{"b", "c"}, b.list(t, by("http_request", "send_technical_push")))
		require.Empty(t, b.list(t, by("unknown", "HTTP_REQUEST", "' OR 1=1 --")))
		b.putAll(t, row("a", performs(httpAction()), revision(at(2))))
		require.Equal(t, []string{"a", "c"}, b.list(t, by("http_request")), "a column follows its blob")
	}},
	{"by labels, all of them", func(t *testing.T, b *bundle) {
		b.putAll(t, row("a", labels(map[string]string{"team": "x", "tier": "1"})),
			row("b", labels(map[string]string{"team": "x", "tier": "2"})),
			row("c", labels(map[string]string{"team": "", "x": "team"})), row("d"))
		by := func(l map[string]string) store.ActionQuery { return store.ActionQuery{Labels: l} }
		require.Equal(t, []string{"a", "b"}, b.list(t, by(map[string]string{"team": "x"})))
		require.Equal(t, []string{"b"}, b.list(t, by(map[string]string{"team": "x", "tier": "2"})))
		require.Equal(t, []string{"c"}, b.list(t, by(map[string]string{"team": ""})), "empty is not absent")
		require.Empty(t, b.list(t, by(map[string]string{"team": "X"})))
		require.Empty(t, b.list(t, by(map[string]string{"tier": "x"})), "a value of another key")
		require.Len(t, b.list(t, by(map[string]string{})), 4)
		b.putAll(t, row("a", labels(map[string]string{"tier": "2"}), revision(at(2))))
		require.Equal(t, []string{"b"}, b.list(t, by(map[string]string{"team": "x"})), "a column follows its blob")
	}},
	{"by labels with any text", func(t *testing.T, b *bundle) {
		values := []string{
			"", "%", "_", "a%", "a_", "ab", "'", "''", `"`, `\`, `\"`, `\u0041`, "A", "a", "<&>", "null", "1", "1.0", "true", "{}", "[]",
			" ", "a ", "\n", "\t", "\x00", "a\x00b", "é", "e\u0301", "日本語", "🙂", "\u2028", "\ufeff", "$.a", "*", "' OR '1'='1",
		}
		for i, v := range values {
			b.putAll(t, row(rowName(i), labels(map[string]string{"k": v, "k.dotted-key_1": v})))
		}
		for i, v := range values {
			for _, key := range []string{"k", "k.dotted-key_1"} {
				require.Equal(t, []string{rowName(i)},
					b.list(t, store.ActionQuery{Labels: map[string]string{key: v}}), "%s=%q", key, v)
			}
		}
	}},
	{"by id", func(t *testing.T, b *bundle) {
		b.putAll(t, row("a"), row("A"), row("ab"))
		require.Equal(t, []string{"a"}, b.list(t, store.ActionQuery{ID: "a"}))
		require.Equal(t, []string{"ab"}, b.list(t, store.ActionQuery{ID: "ab", IDPrefix: "a"}))
		require.Empty(t, b.list(t, store.ActionQuery{ID: "a", IDPrefix: "b"}))
		require.Empty(t, b.list(t, store.ActionQuery{ID: "%"}))
	}},
	{"by id prefix, in which no character is special", func(t *testing.T, b *bundle) {
		b.putAll(t, row("order"), row("order-1"), row("order_1"), row("order.1"), row("orders"), row("Order-2"),
			row("orde"), row("a_b"), row("axb"), row("a~"), row("a~~"), row("b"))
		by := func(prefix string) []string {
			return b.list(t, store.ActionQuery{IDPrefix: prefix, Order: store.ByID})
		}
		require.Equal(t, []string{"order", "order-1", "order.1", "order_1", "orders"}, by("order"))
		require.Equal(t, []string{"order-1"}, by("order-"))
		require.Equal(t, []string{"order_1"}, by("order_"))
		require.Equal(t, []string{"Order-2"}, by("O"))
		require.Equal(t, []string{"a_b"}, by("a_"))
		require.Equal(t, []string{"a~", "a~~"}, by("a~"))
		require.Equal(t, []string{"order-1"}, by("order-1"))
		for _, nothing := range []string{"%", "_", "o%", "order%", "*", "o*", `\`, "ordes", "日", "\U0010ffff", "'"} {
			require.Empty(t, by(nothing), "prefix %q", nothing)
		}
	}},
	{"by due time, from inclusive, before exclusive", func(t *testing.T, b *bundle) {
		b.putAll(t, row("a", due(epoch.Add(-time.Microsecond))), row("b", due(epoch)),
			row("c", due(epoch.Add(time.Microsecond))), row("never", due(time.Time{})))
		from := func(at time.Time) store.ActionQuery { return store.ActionQuery{DueFrom: at} }
		before := func(at time.Time) store.ActionQuery { return store.ActionQuery{DueBefore: at} }
		require.Equal(t, []string{"b", "c"}, b.list(t, from(epoch)))
		require.Equal(t, []string{"a"}, b.list(t, before(epoch)), "a row without a scheduled_at is not due")
		require.Equal(t, []string{"b"}, b.list(t, store.ActionQuery{DueFrom: epoch, DueBefore: epoch.Add(time.Microsecond)}))
		require.Empty(t, b.list(t, store.ActionQuery{DueFrom: epoch, DueBefore: epoch}))
		require.Empty(t, b.list(t, from(epoch.Add(time.Second))))
		require.Equal(t, []string{"b", "c"}, b.list(t, from(epoch.In(time.FixedZone("east", 3600)))), "a moment has no zone")
	}},
	// ActionPosition: microseconds are the precision as it is stored and compared.
	{"due times are compared in microseconds and come back whole", func(t *testing.T, b *bundle) {
		odd := epoch.Add(5*time.Microsecond + 999*time.Nanosecond)
		b.putAll(t, row("odd", due(odd)), row("even", due(epoch.Add(5*time.Microsecond))))
		b.requireRow(t, row("odd", due(odd)))
		require.Equal(t, []string{"even", "odd"}, b.list(t, store.ActionQuery{}), "a tie, broken by id")
		require.Len(t, b.list(t, store.ActionQuery{DueFrom: odd}), 2)
		require.Empty(t, b.list(t, store.ActionQuery{DueBefore: odd}))
		require.Equal(t, []string{"odd"}, b.list(t, store.ActionQuery{
			After: &store.ActionPosition{ScheduledAt: odd, ID: "even"},
		}))
	}},
	{"both orders, both directions", func(t *testing.T, b *bundle) {
		b.putAll(t, row("b", due(epoch)), row("a", due(epoch.Add(time.Hour))), row("c", due(epoch)),
			row("Z", due(epoch)), row("never-2", due(time.Time{})), row("never-1", due(time.Time{})),
			row("distant", due(time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC))), row("past", due(time.Unix(0, 0))))
		byDue := []string{"never-1", "never-2", "past", "Z", "b", "c", "a", "distant"}
		byID := []string{"Z", "a", "b", "c", "distant", "never-1", "never-2", "past"}
		require.Equal(t, byDue, b.list(t, store.ActionQuery{Order: store.ByScheduledAt}))
		require.Equal(t, byID, b.list(t, store.ActionQuery{Order: store.ByID}))
		require.Equal(t, reversed(byDue), b.list(t, store.ActionQuery{Order: store.ByScheduledAt, Descending: true}))
		require.Equal(t, reversed(byID), b.list(t, store.ActionQuery{Order: store.ByID, Descending: true}))
	}},
	{"not more than the limit, which is at least 1", func(t *testing.T, b *bundle) {
		b.putAll(t, row("a"), row("b"), row("c"))
		require.Equal(t, []string{"a", "b"}, b.list(t, store.ActionQuery{Limit: 2}))
		for _, limit := range []int{0, -1} {
			_, err := b.ListActions(t.Context(), store.ActionQuery{Limit: limit})
			require.Error(t, err)
		}
	}},
	{"an unknown order is refused", func(t *testing.T, b *bundle) {
		_, err := b.ListActions(t.Context(), store.ActionQuery{Limit: 1, Order: 99})
		require.Error(t, err)
	}},
}
