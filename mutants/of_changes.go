package main

// Tests of http_change and of the channels of notices.
var (
	changingByHTTP = in("changes/httpchange")
	tellingPeople  = in("notices/channels")
)

// ofChanges are bugs in how services are asked for changes, and people told of them:
// changes/httpchange and notices/channels.
var ofChanges = []mutant{
	{
		name: "http-change-without-key", requirement: "V-11", tests: changingByHTTP,
		why:   "a service cannot tell a repeated change from a new one",
		edits: alone("changes/httpchange/apply.go", "\t\th.Set(\"Idempotency-Key\", t.Key)\n", ""),
	},
	{
		name: "http-change-busy-is-final", requirement: "V-12", tests: changingByHTTP,
		why:   "a service that is busy fails the change for good",
		edits: alone("changes/httpchange/kind.go", " && status != http.StatusTooManyRequests\n", "\n"),
	},
	{
		name: "http-change-follows-redirects", requirement: "V-12", tests: changingByHTTP,
		why:   "a redirected POST becomes a GET, and its page counts as done",
		edits: alone("changes/httpchange/kind.go", "Redirects: outbound.NoRedirects", "Redirects: outbound.FollowRedirects(func(int) bool { return false })"),
	},
	{
		name: "http-change-asks-in-doubt", requirement: "V-16", tests: changingByHTTP,
		why:   "a service finds what the change itself did and sends the batch to review",
		edits: alone("changes/httpchange/validate.go", "if s.InDoubt || ", "if "),
	},
	{
		name: "notice-without-key", requirement: "V-17", tests: tellingPeople,
		why:   "an on-call engineer is woken twice for one review",
		edits: alone("notices/channels/webhook.go", "\treq.Header.Set(\"Idempotency-Key\", n.Key)\n", ""),
	},
	{
		name: "webhook-errors-are-success", requirement: "V-17", tests: tellingPeople,
		why:   "nobody learns that a batch waits for a person",
		edits: alone("notices/channels/webhook.go", "if r.Status < 200 || r.Status > 299 {", "if r.Status < 200 || r.Status > 599 {"),
	},
	{
		name: "mail-without-message-id", requirement: "V-17", tests: tellingPeople,
		why:   "a mail that is sent again is shown twice",
		edits: alone("notices/channels/mail.go", "\tmsg.SetMessageIDWithValue(hex.EncodeToString(key[:16]) + \"@gnomon\")\n", "\t_ = hex.EncodeToString(key[:])\n"),
	},
}
