package main

// performing are the tests of the performers.
var performing = in("activities/performers", "outbound")

// ofPerformers are bugs in what reaches the other side: activities/performers and
// outbound, which they call it with.
var ofPerformers = []mutant{
	{
		name: "http-without-key", requirement: "M-59", tests: performing,
		why:   "the other side cannot tell a retry from a new occurrence",
		edits: alone("activities/performers/http.go", "\treq.Header.Set(\"Idempotency-Key\", r.IdempotencyKey)\n", ""),
	},
	{
		name: "http-key-by-the-spec", requirement: "M-59", tests: performing,
		why: "a header of the spec takes the place of gnomon's",
		edits: alone("activities/performers/http.go", "\treq.Header.Set(\"Idempotency-Key\", r.IdempotencyKey)\n",
			"\tif req.Header.Get(\"Idempotency-Key\") == \"\" {\n\t\treq.Header.Set(\"Idempotency-Key\", r.IdempotencyKey)\n\t}\n"),
	},
	{
		name: "push-without-key", requirement: "M-04", tests: performing,
		why:   "the notificator cannot tell a retry from a new occurrence",
		edits: alone("activities/performers/push.go", "\t\t\tIdempotencyKey: r.IdempotencyKey,\n", ""),
	},
	{
		name: "client-errors-always-final", requirement: "issue 2, performers", tests: performing,
		why:   "a 404 of a service that is being deployed ends the action",
		edits: alone("activities/performers/http.go", "if clientError && spec.GetGiveUpOnClientError() {", "if clientError {"),
	},
	{
		name: "too-many-requests-final", requirement: "F12", tests: performing,
		why:   "a target that asks for patience gets none",
		edits: alone("activities/performers/http.go", "status != http.StatusRequestTimeout && status != http.StatusTooManyRequests", "status != http.StatusRequestTimeout"),
	},
	{
		name: "any-status-accepted", requirement: "M-37", tests: performing,
		why:   "a target's error counts as success",
		edits: alone("activities/performers/http.go", "\t\treturn status >= 200 && status <= 299\n", "\t\treturn status >= 200\n"),
	},
	{
		name: "reply-read-without-end", requirement: "F11", tests: performing,
		why:   "a target that sends for ever holds an attempt and its memory",
		edits: alone("outbound/http.go", "io.LimitReader(body, max(0, c.maxReplyBytes-n))", "io.LimitReader(body, max(0, 1000*c.maxReplyBytes-n))"),
	},
	{
		name: "broken-reply-is-success", requirement: "F12", tests: performing,
		why:   "a target that resets in the middle counts as success",
		edits: alone("activities/performers/http.go", "\treturn reply, answer.Broken\n", "\treturn reply, nil\n"),
	},
	{
		name: "redirect-takes-secrets-along", requirement: "F20", tests: performing,
		why:   "another host is told the Authorization of the first",
		edits: alone("outbound/redirect.go", "\tif !strings.EqualFold(from.Hostname(), to.Hostname()) {\n\t\treturn true", "\tif !strings.EqualFold(from.Hostname(), to.Hostname()) {\n\t\treturn false"),
	},
}
