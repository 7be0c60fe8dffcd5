package starter

import (
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"gnomon/action"
	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/store"
)

// noon is the moment at which tests play.
var noon = time.Date(2026, time.November, 21, 12, 0, 0, 0, time.UTC)

// requireViolation holds that err is INVALID_ARGUMENT for one field and rule, with
// the details that every such error has, and gives its description.
func requireViolation(t require.TestingT, err error, field, rule string) string {
	require.Error(t, err)
	st := status.Convert(err)
	require.Equal(t, codes.InvalidArgument, st.Code(), "%v", err)
	var bad *errdetails.BadRequest
	var info *errdetails.ErrorInfo
	for _, detail := range st.Details() {
		switch detail := detail.(type) {
		case *errdetails.BadRequest:
			bad = detail
		case *errdetails.ErrorInfo:
			info = detail
		}
	}
	require.NotNil(t, info, "no ErrorInfo in %v", st.Proto())
	require.Equal(t, errorDomain, info.GetDomain())
	require.Equal(t, rule, info.GetReason(), "%v", err)
	require.NotNil(t, bad, "no BadRequest in %v", st.Proto())
	require.Len(t, bad.GetFieldViolations(), 1)
	violation := bad.GetFieldViolations()[0]
	require.Equal(t, field, violation.GetField(), "%v", err)
	require.Equal(t, rule, violation.GetReason())
	require.NotEmpty(t, violation.GetDescription())
	require.True(t, utf8.ValidString(st.Message()))
	return violation.GetDescription()
}

// issue 2, 6: filter by state, kind, label, id prefix, due before and after.
func TestFilterSelects(t *testing.T) {
	t.Parallel()
	ten := time.Date(2026, time.November, 21, 10, 0, 0, 0, time.UTC)
	for filter, want := range map[string]store.ActionQuery{
		"":                                               {},
		"  \n ":                                          {},
		`state = "SCHEDULED"`:                            {States: []gnomonv1.Status_State{gnomonv1.Status_SCHEDULED}},
		`state=PAUSED`:                                   {States: []gnomonv1.Status_State{gnomonv1.Status_PAUSED}},
		`kind = "http_request"`:                          {Kinds: []string{action.KindHTTP}},
		`kind = "mock_action"`:                           {Kinds: []string{action.KindMock}},
		`kind = 'send_technical_push'`:                   {Kinds: []string{action.KindPush}},
		`labels.team = "a"`:                              {Labels: map[string]string{"team": "a"}},
		`labels.team = ""`:                               {Labels: map[string]string{"team": ""}},
		`labels."my-team" = "a b"`:                       {Labels: map[string]string{"my-team": "a b"}},
		`labels.a.b = "x" AND labels.c = d`:              {Labels: map[string]string{"a.b": "x", "c": "d"}},
		`id = "order-7"`:                                 {ID: "order-7"},
		`id = "order-*"`:                                 {IDPrefix: "order-"},
		`id = "*"`:                                       {},
		`scheduled_at < "2026-11-21T10:00:00Z"`:          {DueBefore: ten},
		`scheduled_at <= "2026-11-21T10:00:00Z"`:         {DueBefore: ten.Add(time.Microsecond)},
		`scheduled_at > "2026-11-21T10:00:00Z"`:          {DueFrom: ten.Add(time.Microsecond)},
		`scheduled_at >= "2026-11-21T12:00:00+02:00"`:    {DueFrom: ten},
		`scheduled_at >= "2026-11-21T10:00:00.0000001Z"`: {DueFrom: ten.Add(time.Microsecond)},
		`scheduled_at < "2026-11-21T10:00:00.0000001Z"`:  {DueBefore: ten.Add(time.Microsecond)},
		`scheduled_at <= "2026-11-21T10:00:00.0000001Z"`: {DueBefore: ten.Add(time.Microsecond)},
		`scheduled_at > "2026-11-21T10:00:00.0000001Z"`:  {DueFrom: ten.Add(time.Microsecond)},
		`scheduled_at>="2026-11-21T10:00:00Z" AND scheduled_at>="2026-11-20T10:00:00Z" AND scheduled_at<"2026-11-20T10:00:00Z"`: {
			DueFrom: ten, DueBefore: ten.AddDate(0, 0, -1),
		},
		`(state = "SCHEDULED" AND kind = "http_request") AND (labels.team = "a" AND id = "order-*") AND scheduled_at < "2026-11-21T10:00:00Z"`: {
			States: []gnomonv1.Status_State{gnomonv1.Status_SCHEDULED}, Kinds: []string{action.KindHTTP},
			Labels: map[string]string{"team": "a"}, IDPrefix: "order-", DueBefore: ten,
		},
	} {
		t.Run(filter, func(t *testing.T) {
			t.Parallel()
			var got store.ActionQuery
			require.NoError(t, readFilter(filter, &got))
			require.Equal(t, want, got)
		})
	}
}

// A refused filter leaves the query as it was, its labels included.
func TestRefusedFilterChangesNothing(t *testing.T) {
	t.Parallel()
	query := store.ActionQuery{Labels: map[string]string{"kept": "yes"}, Limit: 7}
	requireViolation(t, readFilter(`labels.other = "x" AND state = "GONE"`, &query), "filter", ruleUnknownState)
	require.Equal(t, store.ActionQuery{Labels: map[string]string{"kept": "yes"}, Limit: 7}, query)
}

// Every kind that an action can be of can be filtered by, and no other (M-02).
func TestFilterKnowsEveryKind(t *testing.T) {
	t.Parallel()
	require.Equal(t, map[string]bool{action.KindHTTP: true, action.KindMock: true, action.KindPush: true}, actionFields.kinds)
	require.Len(t, actionFields.states, 8)
}

// The rule says what is known, so that the caller can go on without the manual.
func TestFilterRulesHelp(t *testing.T) {
	t.Parallel()
	var query store.ActionQuery
	require.Contains(t, requireViolation(t, readFilter(`state = "GONE"`, &query), "filter", ruleUnknownState), "RETRYING, RUNNING, SCHEDULED")
	require.Contains(t, requireViolation(t, readFilter(`kind = "smtp"`, &query), "filter", ruleUnknownKind), "http_request, mock_action, send_technical_push")
	require.Contains(t, requireViolation(t, readFilter(`due = "x"`, &query), "filter", ruleUnknownField), `"due"`)
	require.Contains(t, requireViolation(t, readFilter(`state = "SCHEDULED`, &query), "filter", ruleSyntax), "column 9")
}

// Nested filters of the greatest length are read in no time: the parser goes back
// and forth, which must not multiply with the depth.
func TestHostileFiltersAreCheap(t *testing.T) {
	t.Parallel()
	for _, part := range []string{"(", "f(", "a.b(", "NOT ", "-", "a=f(", "a=(", "1.", "\"", "a AND ", "a OR ", "((a) OR ", "a b "} {
		filter := strings.Repeat(part, maxFilterBytes/len(part))
		for ; strings.Count(filter, "(") > maxFilterParens; filter = strings.Replace(filter, "(", "", 1) { //nolint:revive // the post statement is all
		}
		start := time.Now()
		var query store.ActionQuery
		require.Error(t, readFilter(filter, &query), part)
		require.Less(t, time.Since(start), 5*time.Second, part)
	}
}

// A filter is read or refused as a filter, never anything else.
func FuzzFilter(f *testing.F) {
	for _, seed := range []string{
		`state = "SCHEDULED" AND labels.team = "a"`, `id = "order-*"`, `scheduled_at < "2026-11-21T10:00:00Z"`, `NOT (a OR -b:c)`,
		`f(a, 1.5, "x")`, `labels."a".b='\x00'`, `a.b.c != 0x1f`, "\"\\u12\"", "é = 'é'", "a=-1", `labels.`, `.=.`, "AND",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, filter string) {
		query := store.ActionQuery{Limit: 3}
		err := readFilter(filter, &query)
		if err == nil {
			require.Equal(t, 3, query.Limit)
			return
		}
		require.Equal(t, codes.InvalidArgument, status.Code(err))
		refused, ok := errors.AsType[*refusal](err)
		require.True(t, ok)
		require.NotEmpty(t, refused.status.Details(), "the details could not be encoded")
		require.Equal(t, store.ActionQuery{Limit: 3}, query)
	})
}
