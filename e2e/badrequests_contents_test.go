package e2e

import (
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// badContents are faults of what: the action of every kind, and sizes (M-02, M-03).
func badContents(s *served) []badRequest {
	const what = "spec.action"
	act := func(a *gnomonv1.Action) fault {
		return specFault(func(p *gnomonv1.Spec) { p.Action = a })
	}
	mock := func(m *gnomonv1.MockAction) fault {
		return act(&gnomonv1.Action{Action: &gnomonv1.Action_MockAction{MockAction: m}})
	}
	nothing := s.create("nothing at all", "meta.id", "REQUIRED", func(*gnomonv1.ScheduledAction) {})
	nothing.req, nothing.violations = &gnomonv1.CreateActionRequest{}, 2
	silent := s.create("mock without behaviour", what+".mock_action", "NOT_ALLOWED", mock(&gnomonv1.MockAction{}))
	silent.violations = 2
	rows := []badRequest{
		nothing, silent,
		s.create("no spec", "spec", "REQUIRED", func(a *gnomonv1.ScheduledAction) { a.Spec = nil }),
		s.create("no action", what, "REQUIRED", act(nil)),
		s.create("action of no kind", what, "REQUIRED", act(&gnomonv1.Action{})),
		s.create("mock where it is not allowed", what+".mock_action", "NOT_ALLOWED",
			mock(&gnomonv1.MockAction{Behaviour: &gnomonv1.MockAction_Succeed_{Succeed: &gnomonv1.MockAction_Succeed{}}})),
		s.create("spec above 256 KiB", "spec", "TOO_LONG", httpFault(func(r *gnomonv1.HttpRequest) {
			r.Body, r.Headers = make([]byte, 128<<10), many(33, strings.Repeat("v", 4000))
		})),
	}
	rows = append(rows, badPushes(s)...)
	return append(rows, badHTTP(s)...)
}

func badPushes(s *served) []badRequest {
	const push = "spec.action.send_technical_push."
	return []badRequest{
		s.create("push to nobody", push+"recipient", "REQUIRED", pushFault(func(p *gnomonv1.SendTechnicalPush) { p.Recipient = "" })),
		s.create("push of no type", push+"type", "REQUIRED", pushFault(func(p *gnomonv1.SendTechnicalPush) { p.Type = "" })),
		s.create("push of a long type", push+"type", "TOO_LONG", pushFault(func(p *gnomonv1.SendTechnicalPush) { p.Type = strings.Repeat("t", 257) })),
		s.create("push above 64 KiB", push+"payload", "TOO_LONG", pushFault(func(p *gnomonv1.SendTechnicalPush) { p.Payload = make([]byte, 64<<10+1) })),
		s.create("push timeout below 0", push+"timeout", "OUT_OF_RANGE", pushFault(func(p *gnomonv1.SendTechnicalPush) { p.Timeout = durationpb.New(-1) })),
	}
}

func badHTTP(s *served) []badRequest {
	const request = "spec.action.http_request."
	link := func(name, reason, raw string) badRequest { return s.create(name, request+"url", reason, urlFault(raw)) }
	header := func(name, reason, key, value string) badRequest {
		return s.create(name, request+`headers["`+key+`"]`, reason, headerFault(key, value))
	}
	accepted := func(first, last uint32) fault {
		return httpFault(func(r *gnomonv1.HttpRequest) {
			r.AcceptedStatus = []*gnomonv1.HttpRequest_StatusRange{{First: 200}, {First: first, Last: last}}
		})
	}
	timeout := func(d time.Duration) fault {
		return httpFault(func(r *gnomonv1.HttpRequest) { r.Timeout = durationpb.New(d) })
	}
	return []badRequest{
		link("no URL", "REQUIRED", ""),
		link("URL of a path", "INVALID_URL", "/ok"),
		link("URL of a file", "INVALID_URL", "file:///etc/passwd"),
		link("URL without host", "INVALID_URL", "http://:80/"),
		link("URL of port 65536", "INVALID_URL", "http://example.org:65536/"),
		link("URL with a password", "INVALID_URL", "http://user:secret@example.org/"),
		link("URL with a fragment", "INVALID_URL", "http://example.org/#top"),
		link("URL with a line break", "INVALID_CHARACTER", "http://example.org/\r\nHost:x"),
		link("URL in Unicode", "INVALID_CHARACTER", "http://exämple.org/"),
		link("URL of 2049 bytes", "TOO_LONG", "http://example.org/"+strings.Repeat("x", 2030)),
		s.create("method TRACE", request+"method", "UNSUPPORTED", httpFault(func(r *gnomonv1.HttpRequest) { r.Method = "TRACE" })),
		s.create("method in small letters", request+"method", "UNSUPPORTED", httpFault(func(r *gnomonv1.HttpRequest) { r.Method = "get" })),
		header("header without a name", "REQUIRED", "", "v"),
		header("header with a blank", "INVALID_CHARACTER", "X Y", "v"),
		header("header of gnomon", "RESERVED", "gnomon-attempt", "1"),
		header("header of the key", "RESERVED", "Idempotency-Key", "k"),
		header("header of two lines", "INVALID_CHARACTER", "X-A", "a\r\nX-B: b"),
		header("header of 4097 bytes", "TOO_LONG", "X-A", strings.Repeat("v", 4097)),
		s.create("header in two spellings", request+`headers["x-a"]`, "DUPLICATE",
			httpFault(func(r *gnomonv1.HttpRequest) { r.Headers = map[string]string{"X-A": "1", "x-a": "2"} })),
		s.create("65 headers", request+"headers", "TOO_MANY", httpFault(func(r *gnomonv1.HttpRequest) { r.Headers = many(65, "v") })),
		s.create("body above 128 KiB", request+"body", "TOO_LONG", httpFault(func(r *gnomonv1.HttpRequest) { r.Body = make([]byte, 128<<10+1) })),
		s.create("status 99", request+"accepted_status[1].first", "OUT_OF_RANGE", accepted(99, 200)),
		s.create("statuses backwards", request+"accepted_status[1].last", "OUT_OF_RANGE", accepted(300, 299)),
		s.create("timeout below 0", request+"timeout", "OUT_OF_RANGE", timeout(-time.Second)),
		s.create("timeout above 10 minutes", request+"timeout", "OUT_OF_RANGE", timeout(10*time.Minute+1)),
	}
}
