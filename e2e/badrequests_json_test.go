package e2e

import (
	"net/http"
	"strings"

	"google.golang.org/grpc/codes"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// badLists are lists that cannot be made. Token is a page token of another order.
func badLists(token string) []badRequest {
	list := func(name, field, reason string, req *gnomonv1.ListActionsRequest) badRequest {
		return badRequest{name: name, req: req, field: field, reason: reason}
	}
	rows := []badRequest{
		list("page of -1", "page_size", "OUT_OF_RANGE", &gnomonv1.ListActionsRequest{PageSize: -1}),
		list("page of 1001", "page_size", "OUT_OF_RANGE", &gnomonv1.ListActionsRequest{PageSize: 1001}),
		list("page token of nobody", "page_token", "MALFORMED", &gnomonv1.ListActionsRequest{PageToken: "bm9ib2R5"}),
		list("page token of letters", "page_token", "MALFORMED", &gnomonv1.ListActionsRequest{PageToken: "ключ"}),
		list("page token of another order", "page_token", "OTHER_QUERY", &gnomonv1.ListActionsRequest{PageToken: token, OrderBy: "id"}),
		list("page token of another filter", "page_token", "OTHER_QUERY", &gnomonv1.ListActionsRequest{PageToken: token, Filter: `state = "FAILED"`}),
		list("page token with a letter changed", "page_token", "MALFORMED", &gnomonv1.ListActionsRequest{PageToken: "B" + token[1:]}),
		list("page token cut short", "page_token", "MALFORMED", &gnomonv1.ListActionsRequest{PageToken: token[:len(token)-4]}),
		list("order by state", "order_by", "UNKNOWN_FIELD", &gnomonv1.ListActionsRequest{OrderBy: "state"}),
		list("order of two", "order_by", "UNSUPPORTED", &gnomonv1.ListActionsRequest{OrderBy: "id, scheduled_at"}),
		list("order with a statement", "order_by", "SYNTAX", &gnomonv1.ListActionsRequest{OrderBy: "id; DROP TABLE actions"}),
	}
	for filter, reason := range map[string]string{
		`state`: "SYNTAX", `state = "SCHEDULED`: "SYNTAX", `state = "SCHEDULED" AND`: "SYNTAX", `id = "a"; DROP TABLE actions`: "SYNTAX",
		`state = "scheduled"`: "UNKNOWN_STATE", `kind = "smtp"`: "UNKNOWN_KIND", `guid = "a"`: "UNKNOWN_FIELD", `spec.action = "a"`: "UNKNOWN_FIELD",
		`state != "FAILED"`: "BAD_OPERATOR", `labels.team > "a"`: "BAD_OPERATOR", `id = "*a"`: "BAD_VALUE", `scheduled_at < 5`: "BAD_VALUE",
		`scheduled_at < "tomorrow"`: "INVALID_TIMESTAMP", `state = "FAILED" OR state = "EXPIRED"`: "UNSUPPORTED",
		`state = "FAILED" AND state = "EXPIRED"`: "REPEATED_FIELD", `id = "` + strings.Repeat("x", 2000) + `"`: "TOO_LONG",
	} {
		rows = append(rows, list("filter "+filter[:min(len(filter), 40)], "filter", reason, &gnomonv1.ListActionsRequest{Filter: filter}))
	}
	return rows
}

// badJSON are faults of JSON and HTTP, which gRPC cannot have.
func badJSON(s *served) []badRequest {
	const retry = "action.spec.send_policy.send_once_policy.retry_policy."
	inRetry := func(member string) string {
		return `{"spec":{"sendPolicy":{"sendOncePolicy":{"retryPolicy":{` + member + `}}}}}`
	}
	create := func(name, field, reason, body string) badRequest {
		return badRequest{name: name, rest: &restCall{method: http.MethodPost, path: "/v1/actions", body: body}, field: field, reason: reason}
	}
	huge := create("huge body", "body", "TOO_LARGE", `{"meta":{"id":"`+strings.Repeat("x", 1<<20)+`"}}`)
	huge.http = http.StatusRequestEntityTooLarge
	patch := func(name, field, reason, query, body string) badRequest {
		return badRequest{name: name, rest: &restCall{method: http.MethodPatch, path: "/v1/actions/" + s.id(standing) + query, body: body}, field: field, reason: reason}
	}
	get := func(name, field, reason, path string) badRequest {
		return badRequest{name: name, rest: &restCall{method: http.MethodGet, path: path}, field: field, reason: reason}
	}
	nowhere := badRequest{name: "path of nothing", rest: &restCall{method: http.MethodGet, path: "/v1/things"}, code: codes.NotFound, reason: "UNKNOWN_PATH"}
	foreign := badRequest{
		name: "page of another origin", rest: &restCall{
			method: http.MethodPost, path: "/v1/actions", body: `{}`, header: http.Header{"Sec-Fetch-Site": {"cross-site"}},
		}, code: codes.PermissionDenied, reason: "CROSS_ORIGIN", http: http.StatusForbidden,
	}
	method := badRequest{
		name: "method that is none", rest: &restCall{method: http.MethodPut, path: "/v1/actions/" + s.id(standing), body: `{}`},
		code: codes.Unimplemented, reason: "METHOD_NOT_ALLOWED", http: http.StatusMethodNotAllowed,
	}
	return []badRequest{
		huge, nowhere, foreign, method,
		create("no JSON", "body", "MALFORMED_JSON", `meta: {id: a}`),
		create("half of JSON", "body", "MALFORMED_JSON", `{"meta":{"id":"a"`),
		create("bare NaN", "body", "MALFORMED_JSON", inRetry(`"restartPeriodBackOff":NaN`)),
		create("an array", "action", "BAD_VALUE", `[]`),
		create("member that is unknown", "action.spec.sendPolice", "UNKNOWN_FIELD", `{"spec":{"sendPolice":{}}}`),
		create("start of a word", "action.spec.start_policy.start_at", "BAD_VALUE", `{"spec":{"startPolicy":{"startAt":"tomorrow"}}}`),
		create("start without a zone", "action.spec.start_policy.start_at", "BAD_VALUE", `{"spec":{"startPolicy":{"startAt":"2026-11-21T10:00:00"}}}`),
		create("scale in minutes", retry+"restart_period_scale", "BAD_VALUE", inRetry(`"restartPeriodScale":"1m"`)),
		create("back off of a word", retry+"restart_period_back_off", "BAD_VALUE", inRetry(`"restartPeriodBackOff":"two"`)),
		create("back off beyond any number", retry+"restart_period_back_off", "BAD_VALUE", inRetry(`"restartPeriodBackOff":1e400`)),
		create("retries below 0", retry+"max_retries", "BAD_VALUE", inRetry(`"maxRetries":-1`)),
		create("retries above 32 bits", retry+"max_retries", "BAD_VALUE", inRetry(`"maxRetries":4294967296`)),
		create("two policies", "action.spec.send_policy.send_once_policy", "BAD_VALUE", `{"spec":{"sendPolicy":{"sendPeriodicallyPolicy":{},"sendOncePolicy":{}}}}`),
		create("body that is no base64", "action.spec.action.http_request.body", "BAD_VALUE", `{"spec":{"action":{"httpRequest":{"body":"%"}}}}`),
		create("id that is no text", "action.meta.id", "BAD_VALUE", `{"meta":{"id":7}}`),
		create("id that is not UTF-8", "action.meta.id", "BAD_VALUE", "{\"meta\":{\"id\":\"\xff\"}}"),
		patch("patch of nothing", "action", "REQUIRED", "", `{"meta":{"id":"x"}}`),
		patch("patch with an unknown parameter", "etga", "UNKNOWN_FIELD", "?etga=x", `{"spec":{}}`),
		patch("patch of the id by parameter", "action.meta.id", "UNKNOWN_FIELD", "?action.meta.id=x", `{"spec":{}}`),
		get("parameter of the wrong type", "page_size", "BAD_VALUE", "/v1/actions?pageSize=ten"),
		get("parameter beyond 32 bits", "page_size", "BAD_VALUE", "/v1/actions?pageSize=4294967297"),
		get("parameter that is unknown", "filtre", "UNKNOWN_FIELD", "/v1/actions?filtre=x"),
		get("id of bytes", "id", "NOT_UTF8", "/v1/actions/%ff"),
	}
}
