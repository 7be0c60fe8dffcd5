package e2e

import (
	"encoding/base64"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/types/known/durationpb"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/store/faulty"
)

// canary stands for what nobody but the other side may see.
const canary = "c4n4ryc4n4ryc4n4ry"

// canaries are the forms in which it might come out.
var canaries = []string{canary, base64.StdEncoding.EncodeToString([]byte(canary)), fmt.Sprintf("%x", canary)}

// silent holds that a text does not tell the canary.
func silent(t *testing.T, where, text string) {
	t.Helper()
	for _, form := range canaries {
		if at := strings.Index(text, form); at >= 0 {
			require.Fail(t, where+" tells the secret", "%s", text[max(0, at-200):min(len(text), at+200)])
		}
	}
}

// secretive puts the canary into query, header and body of an action.
func secretive(a *gnomonv1.ScheduledAction) *gnomonv1.ScheduledAction {
	r := a.GetSpec().GetAction().GetHttpRequest()
	r.Url += "?token=" + canary
	r.Headers = map[string]string{"Authorization": "Bearer " + canary}
	r.Body = []byte(canary)
	return a
}

// design.md: errors and logs never tell payloads, headers or queries, whatever is
// wrong with the request that holds them.
//
//nolint:tparallel // the rows are parallel, what is held after them waits for all
func TestRefusalsTellNoSecrets(t *testing.T) {
	t.Parallel()
	s := serveFacade(t, nil)
	const request = "spec.action.http_request."
	both := func(a, b fault) fault {
		return func(action *gnomonv1.ScheduledAction) { a(action); b(action) }
	}
	hidden := func(name, field, reason string, broken fault) badRequest {
		return s.create(name, field, reason, both(func(a *gnomonv1.ScheduledAction) { secretive(a) }, broken))
	}
	rows := []badRequest{
		hidden("body too long", request+"body", "TOO_LONG", httpFault(func(r *gnomonv1.HttpRequest) { r.Body = []byte(strings.Repeat(canary, 8000)) })),
		hidden("query with a blank", request+"url", "INVALID_CHARACTER", urlFault("http://example.org/?token="+canary+" x")),
		hidden("query with a broken escape", request+"url", "INVALID_URL", urlFault("http://example.org/%zz"+canary)),
		hidden("password", request+"url", "INVALID_URL", urlFault("http://user:"+canary+"@example.org/")),
		hidden("fragment", request+"url", "INVALID_URL", urlFault("http://example.org/#"+canary)),
		hidden("port", request+"url", "INVALID_URL", urlFault("http://example.org:"+canary+"/")),
		hidden("header of two lines", request+`headers["X-A"]`, "INVALID_CHARACTER", headerFault("X-A", canary+"\r\nX-B: "+canary)),
		hidden("header too long", request+`headers["X-A"]`, "TOO_LONG", headerFault("X-A", strings.Repeat(canary, 300))),
		hidden("method", request+"method", "UNSUPPORTED", httpFault(func(r *gnomonv1.HttpRequest) { r.Method = canary })),
		hidden("too early", "spec.start_policy.start_at", "TOO_EARLY", specFault(func(p *gnomonv1.Spec) { p.StartPolicy.StartAt = stamp(time.Unix(0, 0)) })),
		hidden("push too long", "spec.action.send_technical_push.payload", "TOO_LONG",
			pushFault(func(p *gnomonv1.SendTechnicalPush) {
				p.Recipient, p.Payload = canary, []byte(strings.Repeat(canary, 4000))
			})),
		hidden("recipient too long", "spec.action.send_technical_push.recipient", "TOO_LONG",
			pushFault(func(p *gnomonv1.SendTechnicalPush) { p.Recipient = strings.Repeat(canary, 15) })),
		{
			name: "missing", req: &gnomonv1.UpdateActionRequest{Action: secretive(s.once(s.id("none"), "/ok", time.Hour))},
			code: codes.NotFound, reason: "ACTION_NOT_FOUND",
		},
	}
	for name, member := range map[string]string{
		"body":                            `"body":"%` + canary + `"`,
		"body_of_a_list":                  `"body":["` + canary + `"]`,
		"url":                             `"url":{"` + canary + `":1}`,
		"timeout":                         `"timeout":"` + canary + `"`,
		"accepted_status":                 `"acceptedStatus":"` + canary + `"`,
		`headers["X"]`:                    `"headers":{"X":["` + canary + `"]}`,
		`headers`:                         `"headers":"` + canary + `"`,
		"give_up_on_client_error":         `"giveUpOnClientError":"` + canary + `"`,
		"accepted_status[0].first":        `"acceptedStatus":[{"first":"` + canary + `"}]`,
		"method":                          `"method":["` + canary + `"]`,
		"accepted_status[1].first":        `"acceptedStatus":[{},{"first":"4` + canary + `"}]`,
		`headers["Authorization"]`:        `"headers":{"Authorization":{"` + canary + `":1}}`,
		"timeout_after_the_secret":        `"body":"` + canary + `","timeout":"x"`,
		"unknown_member_after_the_secret": `"body":"` + canary + `","bodi":"` + canary + `"`,
	} {
		field, _, _ := strings.Cut(name, "_of_")
		field, _, _ = strings.Cut(field, "_after_")
		reason := "BAD_VALUE"
		if field == "unknown_member" {
			field, reason = "bodi", "UNKNOWN_FIELD"
		}
		rows = append(rows, badRequest{
			name: "JSON of " + name, field: "action." + request + field, reason: reason,
			rest: &restCall{method: http.MethodPost, path: "/v1/actions", body: `{"spec":{"action":{"httpRequest":{` + member + `}}}}`},
		})
	}
	t.Run("rows", func(t *testing.T) {
		for _, row := range rows {
			t.Run(row.name, func(t *testing.T) {
				t.Parallel()
				row.run(t, s)
			})
		}
	})
	s.tellBroken(t, `{"spec":{"action":{"httpRequest":{"body":"`+canary)
	s.tellBroken(t, `{"spec":{"action":{"httpRequest":{"body":`+canary+`}}}}`)
	require.NotEmpty(t, s.logs.with("msg=call"), "the log holds what it is searched for")
	silent(t, "an error", s.told.String())
	silent(t, "the log", s.logs.String())
}

// tellBroken sends what is no JSON.
func (s *served) tellBroken(t *testing.T, body string) {
	t.Helper()
	badRequest{
		rest: &restCall{method: http.MethodPost, path: "/v1/actions", body: body}, field: "body", reason: "MALFORMED_JSON",
	}.run(t, s)
}

// design.md, P-04: whatever becomes of an attempt, neither Status nor logs nor what
// the Web UI shows tell what was sent.
func TestAttemptsTellNoSecrets(t *testing.T) {
	t.Parallel()
	s := serveFacade(t, nil)
	refusing, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, refusing.Close())
	act := func(name, raw string, change func(*gnomonv1.HttpRequest)) string {
		a := s.once(s.id(name), "/ok", 0)
		r := a.GetSpec().GetAction().GetHttpRequest()
		if raw != "" {
			r.Url = raw
		}
		if change != nil {
			change(r)
		}
		secretive(a)
		s.installation.create(t, a)
		return a.GetMeta().GetId()
	}
	s.store.Set(faulty.Faults{Fail: 1, Only: []faulty.Method{faulty.PutActions, faulty.InsertAction}})
	failed := []string{
		act("status", s.inbox.URL("/status/503"), nil),
		act("refused", "http://"+refusing.Addr().String()+"/x", nil),
		act("nowhere", "http://nowhere.invalid/x", nil),
		act("tls", "https://"+s.inbox.Addr()+"/x", nil),
		act("late", s.inbox.URL("/block"), func(r *gnomonv1.HttpRequest) { r.Timeout = durationpb.New(time.Second) }),
	}
	push := s.once(s.id("push"), "/ok", 0)
	pushFault(func(p *gnomonv1.SendTechnicalPush) { p.Recipient, p.Payload = canary, []byte(canary) })(push)
	s.installation.create(t, push)
	failed = append(failed, push.GetMeta().GetId())
	well := act("well", "", nil)
	require.NoError(t, s.client.SignalWorkflow(t.Context(), workflowv1.WorkflowID(failed[4]), "", "pause", canary))
	// The log tells that rows wait; then they are stored, and the runs may end.
	eventually(t, 20*time.Second, "rows wait for the store", func() bool { return s.store.Injected(faulty.PutActions) > 5 })
	s.store.Set(faulty.Faults{})
	for _, id := range append(slices.Clone(failed), well) {
		st := s.closed(t, id, 30*time.Second)
		if id != well {
			require.Equal(t, gnomonv1.Status_FAILED, st.GetState(), id)
			require.NotEmpty(t, st.GetLastAttemptStatus().GetError(), id)
		}
		silent(t, "the status of "+id, prototext.Format(st))
		for _, e := range s.events(t, id) {
			silent(t, "what the Web UI shows of "+id, prototext.Format(e.GetUserMetadata()))
			silent(t, "the failure of "+id, prototext.Format(e.GetActivityTaskFailedEventAttributes().GetFailure()))
		}
	}
	require.NotEmpty(t, s.logs.with("Rows could not be stored"), "the log holds what it is searched for")
	silent(t, "the log", s.logs.String())
}
