package starter

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/fieldmaskpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"gnomon/action"
	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/store"
)

// badRequest is a request that must be refused, over gRPC, over REST or both, with
// INVALID_ARGUMENT for one field and rule.
type badRequest struct {
	name string
	// grpc is a request message; nil where only REST can say it.
	grpc any
	// method, path and body are the same over REST; no method where only gRPC can.
	method, path, body string
	headers            []string
	// http is the status over REST; 0 is 400.
	http        int
	field, rule string
}

// call sends the message of a bad request.
func (b badRequest) call(t *testing.T, client gnomonv1.ActionServiceClient) error {
	t.Helper()
	var err error
	switch req := b.grpc.(type) {
	case *gnomonv1.ListActionsRequest:
		_, err = client.ListActions(t.Context(), req)
	case *gnomonv1.UpdateActionRequest:
		_, err = client.UpdateAction(t.Context(), req)
	case *gnomonv1.PreviewOccurrencesRequest:
		_, err = client.PreviewOccurrences(t.Context(), req)
	case *gnomonv1.CreateActionRequest:
		_, err = client.CreateAction(t.Context(), req)
	default:
		require.Fail(t, "no call for this", "%T", req)
	}
	return err
}

// run holds that a bad request is refused in every way in which it can be made.
func (b badRequest) run(t *testing.T, client gnomonv1.ActionServiceClient, base string) {
	t.Helper()
	if b.grpc != nil {
		requireViolation(t, b.call(t, client), b.field, b.rule)
	}
	if b.method == "" {
		return
	}
	got := sendTo(t, base, b.method, b.path, b.body, b.headers...)
	want := b.http
	if want == 0 {
		want = http.StatusBadRequest
	}
	require.Equal(t, want, got.code, "%s", got.body)
	require.Equal(t, "application/json", got.header.Get("Content-Type"))
	requireViolation(t, got.err(t), b.field, b.rule)
}

// badFilters are broken filters and the rule that each breaks.
var badFilters = map[string]string{
	`state`:                                       ruleSyntax,
	`"state"`:                                     ruleSyntax,
	`state =`:                                     ruleSyntax,
	`= "SCHEDULED"`:                               ruleSyntax,
	`state = "SCHEDULED`:                          ruleSyntax,
	`state = "SCHEDULED" AND`:                     ruleSyntax,
	`(state = "SCHEDULED"`:                        ruleSyntax,
	`state = "SCHEDULED" kind = "x"`:              ruleSyntax,
	`state = "A" OR state = "B"`:                  action.RuleUnsupported,
	`NOT state = "SCHEDULED"`:                     action.RuleUnsupported,
	`-state = "SCHEDULED"`:                        action.RuleUnsupported,
	`lower(state) = "scheduled"`:                  ruleUnknownField,
	`has(state)`:                                  action.RuleUnsupported,
	`due = "x"`:                                   ruleUnknownField,
	`status.state = "SCHEDULED"`:                  ruleUnknownField,
	`labels = "a"`:                                ruleUnknownField,
	`"state" = "SCHEDULED"`:                       ruleUnknownField,
	`state = "scheduled"`:                         ruleUnknownState,
	`state = "STATE_UNSPECIFIED"`:                 ruleUnknownState,
	`kind = "smtp"`:                               ruleUnknownKind,
	`state != "SCHEDULED"`:                        ruleBadOperator,
	`kind > "http_request"`:                       ruleBadOperator,
	`id >= "a"`:                                   ruleBadOperator,
	`labels.a != "b"`:                             ruleBadOperator,
	`labels:a`:                                    ruleUnknownField,
	`scheduled_at = "2026-11-21T10:00:00Z"`:       ruleBadOperator,
	`scheduled_at < "tomorrow"`:                   action.RuleInvalidTimestamp,
	`scheduled_at < "2026-11-21"`:                 action.RuleInvalidTimestamp,
	`scheduled_at < "0001-01-01T00:00:00Z"`:       action.RuleInvalidTimestamp,
	`scheduled_at < "9999-12-31T23:59:59-01:00"`:  action.RuleInvalidTimestamp,
	`scheduled_at < 5`:                            ruleBadValue,
	`id = 5`:                                      ruleBadValue,
	`id = ""`:                                     ruleBadValue,
	`id = "a*b*"`:                                 ruleBadValue,
	`id = "*a"`:                                   ruleBadValue,
	`state = "RUNNING" AND state = "RUNNING"`:     ruleRepeated,
	`labels.a = "x" AND labels.a = "y"`:           ruleRepeated,
	`id = "` + strings.Repeat("x", 2000) + `"`:    action.RuleTooLong,
	strings.Repeat("(", 33) + `state = "RUNNING"`: ruleTooNested,
}

// badOrders are broken orders and the rule that each breaks.
var badOrders = map[string]string{
	"kind":                   ruleUnknownField,
	"scheduled_at, id":       action.RuleUnsupported,
	"id up":                  ruleSyntax,
	"id desc asc":            ruleSyntax,
	"id;drop":                ruleSyntax,
	"-id":                    ruleSyntax,
	",":                      ruleSyntax,
	strings.Repeat(" ", 101): action.RuleTooLong,
}

// badRequests are the requests that this package refuses by itself, those of lists
// made from the tables above. What is wrong with an action belongs to package
// action.
func badRequests() []badRequest {
	all := []badRequest{
		{
			name: "page size below 0", grpc: &gnomonv1.ListActionsRequest{PageSize: -1},
			method: http.MethodGet, path: "/v1/actions?pageSize=-1", field: "page_size", rule: action.RuleOutOfRange,
		},
		{
			name: "page size above 1000", grpc: &gnomonv1.ListActionsRequest{PageSize: 1001},
			method: http.MethodGet, path: "/v1/actions?page_size=1001", field: "page_size", rule: action.RuleOutOfRange,
		},
		{
			name: "page token of nobody", grpc: &gnomonv1.ListActionsRequest{PageToken: "garbage"},
			method: http.MethodGet, path: "/v1/actions?pageToken=garbage", field: "page_token", rule: ruleMalformed,
		},
		{
			name: "huge page token", grpc: &gnomonv1.ListActionsRequest{PageToken: strings.Repeat("A", 5000)},
			method: http.MethodGet, path: "/v1/actions?pageToken=" + strings.Repeat("A", 5000), field: "page_token", rule: ruleMalformed,
		},
		{
			name: "page token of another order", grpc: &gnomonv1.ListActionsRequest{OrderBy: "id", PageToken: listingOfActions(&gnomonv1.ListActionsRequest{}).pageToken(store.ActionPosition{ID: "a"})},
			method: http.MethodGet, path: "/v1/actions?orderBy=id&pageToken=" + listingOfActions(&gnomonv1.ListActionsRequest{}).pageToken(store.ActionPosition{ID: "a"}),
			field: "page_token", rule: ruleOtherQuery,
		},
		{
			name: "count below 0", grpc: &gnomonv1.PreviewOccurrencesRequest{Count: -1},
			method: http.MethodPost, path: "/v1/actions:previewOccurrences", body: `{"count":-1}`, field: "count", rule: action.RuleOutOfRange,
		},
		{
			name: "count above 1000", grpc: &gnomonv1.PreviewOccurrencesRequest{Count: 1001},
			method: http.MethodPost, path: "/v1/actions:previewOccurrences", body: `{"count":1001}`, field: "count", rule: action.RuleOutOfRange,
		},
		{
			name: "after no timestamp", grpc: &gnomonv1.PreviewOccurrencesRequest{After: &timestamppb.Timestamp{Nanos: -1}},
			field: "after", rule: action.RuleInvalidTimestamp,
		},
		{
			name: "unknown mask path", grpc: &gnomonv1.UpdateActionRequest{UpdateMask: &fieldmaskpb.FieldMask{Paths: []string{"spec.action"}}},
			method: http.MethodPatch, path: "/v1/actions/a?updateMask=spec.action", body: `{"spec":{}}`, field: "update_mask", rule: ruleUnknownPath,
		},
	}
	for filter, rule := range badFilters {
		all = append(all, badRequest{
			name: "filter " + filter[:min(len(filter), 60)], grpc: &gnomonv1.ListActionsRequest{Filter: filter},
			method: http.MethodGet, path: "/v1/actions?filter=" + url.QueryEscape(filter), field: "filter", rule: rule,
		})
	}
	for order, rule := range badOrders {
		all = append(all, badRequest{
			name: "order " + order, grpc: &gnomonv1.ListActionsRequest{OrderBy: order},
			method: http.MethodGet, path: "/v1/actions?orderBy=" + url.QueryEscape(order), field: "order_by", rule: rule,
		})
	}
	return append(all, badJSON()...)
}

// badJSON are bodies and queries that only REST can get wrong.
func badJSON() []badRequest {
	create := func(name, body, field, rule string) badRequest {
		return badRequest{name: name, method: http.MethodPost, path: "/v1/actions", body: body, field: field, rule: rule}
	}
	batch := func(name, body, field, rule string) badRequest {
		return badRequest{name: name, method: http.MethodPost, path: "/v1/actions:batchCreate", body: body, field: field, rule: rule}
	}
	query := func(name, path, field, rule string) badRequest {
		return badRequest{name: name, method: http.MethodGet, path: path, field: field, rule: rule}
	}
	large := create("huge body", `{"meta":{"id":"`+strings.Repeat("x", DefaultMaxRequestBytes)+`"}}`, "body", ruleTooLarge)
	large.http = http.StatusRequestEntityTooLarge
	crossing := large
	crossing.name, crossing.body = "huge blanks", strings.Repeat(" ", DefaultMaxRequestBytes+1)
	patch := badRequest{name: "patch of nothing", method: http.MethodPatch, path: "/v1/actions/a", body: `{"meta":{"guid":"g"}}`, field: "action", rule: action.RuleRequired}
	empty := patch
	empty.name, empty.body = "patch without a body", ""
	return []badRequest{
		large, crossing, patch, empty,
		create("no JSON", `id: a`, "body", ruleMalformedJSON),
		create("half of JSON", `{"meta":{"id":"a"`, "body", ruleMalformedJSON),
		create("two values", `{"meta":{"id":"a"}} {}`, "body", ruleMalformedJSON),
		create("a trailing comma", `{"meta":{"id":"a",}}`, "body", ruleMalformedJSON),
		create("an array", `[]`, "action", ruleBadValue),
		create("a number", `7`, "action", ruleBadValue),
		create("unknown at the top", `{"sepc":{}}`, "action.sepc", ruleUnknownField),
		create("unknown deep down", `{"spec":{"action":{"httpRequest":{"url":"http://x","ulr":1}}}}`, "action.spec.action.http_request.ulr", ruleUnknownField),
		create("unknown after lines", "{\"meta\":\n{\"id\": \"é\", \"labels\":{\"é\": \"x\"}},\n\"spec\": {\"é\": 1}}", "action.spec.é", ruleUnknownField),
		create("case of letters", `{"Spec":{}}`, "action.Spec", ruleUnknownField),
		create("no timestamp", `{"spec":{"startPolicy":{"startAt":"soon"}}}`, "action.spec.start_policy.start_at", ruleBadValue),
		create("no duration", `{"spec":{"start_policy":{"jitter":"1h"}}}`, "action.spec.start_policy.jitter", ruleBadValue),
		create("negative unsigned", `{"spec":{"sendPolicy":{"sendOncePolicy":{"retryPolicy":{"maxRetries":-1}}}}}`, "action.spec.send_policy.send_once_policy.retry_policy.max_retries", ruleBadValue),
		create("too big a number", `{"spec":{"sendPolicy":{"sendOncePolicy":{"retryPolicy":{"maxRetries":4294967296}}}}}`, "action.spec.send_policy.send_once_policy.retry_policy.max_retries", ruleBadValue),
		create("label of a number", `{"meta":{"labels":{"team":7}}}`, `action.meta.labels["team"]`, ruleBadValue),
		create("no base64", `{"spec":{"action":{"httpRequest":{"body":"%"}}}}`, "action.spec.action.http_request.body", ruleBadValue),
		create("second element", `{"spec":{"action":{"httpRequest":{"acceptedStatus":[{"first":200},{"first":"x"}]}}}}`, "action.spec.action.http_request.accepted_status[1].first", ruleBadValue),
		create("two cases of a oneof", `{"spec":{"action":{"mockAction":{},"httpRequest":{}}}}`, "action.spec.action.http_request", ruleBadValue),
		create("the same twice", `{"meta":{"id":"a"},"meta":{"id":"b"}}`, "action.meta", ruleBadValue),
		create("half a surrogate", `{"meta":{"id":"\ud800"}}`, "action", ruleBadValue),
		create("not UTF-8", "{\"meta\":{\"id\":\"\xff\"}}", "action.meta.id", ruleBadValue),
		batch("unknown in a batch", `{"requests":[{"action":{"meta":{"id":"a"}}},{"action":{"mate":{}}}]}`, "requests[1].action.mate", ruleUnknownField),
		batch("unknown beside a batch", `{"request":[]}`, "request", ruleUnknownField),
		batch("a batch that is none", `"a"`, "body", ruleBadValue),
		query("unknown parameter", "/v1/actions?filtr=x", "filtr", ruleUnknownField),
		query("parameter of the wrong type", "/v1/actions?pageSize=ten", "page_size", ruleBadValue),
		query("parameter twice", "/v1/actions?pageSize=1&pageSize=2", "page_size", ruleBadValue),
		query("parameter of the path", "/v1/actions/a?id=b", "id", ruleUnknownField),
		query("broken escape", "/v1/actions?filter=%zz", "query", ruleMalformed),
		query("parameter not UTF-8", "/v1/actions?filter=%ff", "filter", ruleNotUTF8),
		query("path not UTF-8", "/v1/actions/%ff", "id", ruleNotUTF8),
		{name: "parameter of the body", method: http.MethodPatch, path: "/v1/actions/a?action.meta.id=b", body: `{"spec":{}}`, field: "action.meta.id", rule: ruleUnknownField},
		{name: "parameter beside a body", method: http.MethodPost, path: "/v1/actions/a:pause?etag=x", body: `{}`, field: "etag", rule: ruleUnknownField},
	}
}

// issue 2: bad requests each get their precise code and field path, over gRPC and
// REST, and leave nothing behind.
func TestBadRequests(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	rows := badRequests()
	require.GreaterOrEqual(t, len(rows), 25)
	t.Cleanup(func() {
		require.Zero(t, s.service.calls(), "a refused request must not reach the service's commands")
		require.Empty(t, s.service.store.queries, "nor the store")
	})
	for i, row := range rows {
		t.Run(fmt.Sprintf("%d %s", i, row.name), func(t *testing.T) {
			t.Parallel()
			row.run(t, s.client, s.base)
		})
	}
}

// The same request without its fault passes, so that the rows above fail for
// nothing else.
func TestGoodRequestsPass(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	_, err := s.client.ListActions(t.Context(), &gnomonv1.ListActionsRequest{PageSize: 1000, Filter: `state = "RUNNING"`, OrderBy: "id"})
	require.NoError(t, err)
	require.Equal(t, 200, s.get(t, "/v1/actions?pageSize=1000&orderBy=id&filter="+url.QueryEscape(`state = "RUNNING"`)).code)
	require.Equal(t, 200, s.send(t, http.MethodPost, "/v1/actions", `{"meta":{"id":"a"}}`).code)
	big := `{"meta":{"id":"a"},"spec":{"action":{"httpRequest":{"body":"` + strings.Repeat("A", DefaultMaxRequestBytes-200) + `"}}}}`
	require.Equal(t, 200, s.send(t, http.MethodPost, "/v1/actions", big).code)
	for _, none := range []string{"", " \n", "{}"} {
		require.Equal(t, 200, s.send(t, http.MethodPost, "/v1/actions/a:pause", none).code)
	}
	got := s.send(t, http.MethodGet, "/v1/actions?filter=&pageSize=0", "")
	require.Equal(t, 200, got.code, "%s", got.body)
	requireReason(t, s.get(t, "/v1/actions/not-found").err(t), codes.NotFound, reasonActionNotFound)
}
