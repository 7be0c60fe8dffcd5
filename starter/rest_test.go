package starter

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/timestamppb"

	statuspb "google.golang.org/genproto/googleapis/rpc/status"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// answer is what REST answered.
type answer struct {
	code   int
	header http.Header
	body   []byte
}

// err is the error that the body is, with its details.
func (a answer) err(t require.TestingT) error {
	var st statuspb.Status
	require.NoError(t, protojson.Unmarshal(a.body, &st), "%s", a.body)
	return status.FromProto(&st).Err()
}

func (s *testServer) get(t *testing.T, path string) answer {
	t.Helper()
	return s.send(t, http.MethodGet, path, "")
}

// send makes one REST request; headers are pairs.
func (s *testServer) send(t *testing.T, method, path, body string, headers ...string) answer {
	t.Helper()
	return sendTo(t, s.base, method, path, body, headers...)
}

func sendTo(t *testing.T, base, method, path, body string, headers ...string) answer {
	t.Helper()
	var content io.Reader
	if body != "" {
		content = strings.NewReader(body)
	}
	req, err := http.NewRequestWithContext(t.Context(), method, base+path, content)
	require.NoError(t, err)
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Add(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer func() { require.NoError(t, resp.Body.Close()) }()
	read, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return answer{resp.StatusCode, resp.Header, read}
}

// issue 2, 2: REST speaks proto3 JSON: lower camel case, bytes in base64, defaults
// left out, and the Guid as entity tag.
func TestRESTSpeaksProtoJSON(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	for _, contentType := range []string{"application/json", "application/x-www-form-urlencoded", "text/plain"} {
		got := s.send(t, http.MethodPost, "/v1/actions?requestId=r1&validate_only=true",
			"\n "+`{"meta":{"id":"a:b"},"spec":{"startPolicy":{"startAt":"2026-11-21T12:00:00Z"},"action":{"httpRequest":{"body":"aGk="}}}}`+" \n", "Content-Type", contentType)
		require.Equal(t, 200, got.code, "%s", got.body)
		require.Equal(t, "application/json", got.header.Get("Content-Type"))
		require.Equal(t, `"g-1"`, got.header.Get("ETag"))
		require.JSONEq(t, `{"meta":{"id":"a:b","guid":"g-1"},"spec":{"startPolicy":{"startAt":"2026-11-21T12:00:00Z"},"action":{"httpRequest":{"body":"aGk="}}}}`, string(got.body))
	}
	created := s.service.created[0]
	require.Equal(t, "r1", created.GetRequestId())
	require.True(t, created.GetValidateOnly())
	require.True(t, created.GetAction().GetSpec().GetStartPolicy().GetStartAt().AsTime().Equal(noon))
}

// Ids may hold ':' and what else the contract allows; what it does not reaches the
// service, which says so, rather than another path.
func TestIDsInPaths(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	for path, want := range map[string]string{
		"/v1/actions/a:b": "a:b", "/v1/actions/a%3Awatch": "a:watch", "/v1/actions/~x.y_z-1": "~x.y_z-1", "/v1/actions/a%2Fb": "a/b",
		"/v1/actions/..": "..", "/v1/actions/%2E%2E": "..", "/v1/actions/%C3%A9": "é", "/v1/actions/a%20b": "a b",
	} {
		var got gnomonv1.ScheduledAction
		reply := s.get(t, path)
		require.Equal(t, 200, reply.code, "%s: %s", path, reply.body)
		require.NoError(t, protojson.Unmarshal(reply.body, &got))
		require.Equal(t, want, got.GetMeta().GetId())
	}
	paused := s.send(t, http.MethodPost, "/v1/actions/a:b:pause", "")
	require.JSONEq(t, `{"meta":{"id":"a:b"}}`, string(paused.body))
}

// issue 2, 2: errors are google.rpc.Status over REST too, with the same details.
func TestErrorsOverREST(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	want := map[string]int{
		"not-found": 404, "already-exists": 409, "etag": 409, "precondition": 400, "unavailable": 503, "exhausted": 429,
		"bare": 400, "unknown": 500, "late": 504,
	}
	for id, failure := range namedErrors {
		got := s.get(t, "/v1/actions/"+id)
		require.Equal(t, want[id], got.code, id)
		require.Equal(t, status.Convert(complete(failure())).Proto().String(), status.Convert(got.err(t)).Proto().String())
	}
	require.Equal(t, "2", s.get(t, "/v1/actions/exhausted").header.Get("Retry-After"), "whole seconds, rounded up")
	require.Equal(t, "1", s.get(t, "/v1/actions/unavailable").header.Get("Retry-After"))
	panicked := s.get(t, "/v1/actions/panic")
	require.Equal(t, 500, panicked.code)
	requireReason(t, panicked.err(t), codes.Internal, reasonPanic)
}

// PATCH without an update mask replaces what the body holds, and only that.
func TestPatchReplacesWhatTheBodyHolds(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	spec := `{"startPolicy":{"startAt":"2026-11-21T12:00:00Z"},"sendPolicy":{"sendPeriodicallyPolicy":{"period":"60s"}},` +
		`"action":{"httpRequest":{"url":"http://x","headers":{"a":"b"},"acceptedStatus":[{"first":200}]}}}`
	for i, test := range []struct {
		path, body string
		want       []string
	}{
		{"", `{"spec":` + spec + `}`, []string{"spec"}},
		{"", `{"meta":{"labels":{"a":"b"}}}`, []string{"meta.labels"}},
		{"", `{"meta":{"labels":{}}}`, []string{"meta.labels"}},
		{"", `{"meta":{"labels":{"a":"b"}},"spec":` + spec + `}`, []string{"spec", "meta.labels"}},
		{"", `{"meta":{"id":"x","guid":"g","createTime":"2026-11-21T12:00:00Z"},"spec":` + spec + `,"status":{"state":"RUNNING","conditions":[{"type":"Mirrored"}]}}`, []string{"spec"}},
		{"", `{"spec":{}}`, []string{"spec"}},
		{"", `{"spec":` + spec + `,"meta":{"labels":null}}`, []string{"spec"}},
		{"?updateMask=spec", `{"meta":{"labels":{"a":"b"}},"spec":` + spec + `}`, []string{"spec"}},
		{"?update_mask=meta.labels", `{"spec":` + spec + `}`, []string{"meta.labels"}},
		{"?updateMask=spec,labels", ``, []string{"spec", "labels"}},
		{"?updateMask=&allowMissing=true&etag=e", `{"spec":` + spec + `}`, []string{"spec"}},
	} {
		got := s.send(t, http.MethodPatch, "/v1/actions/a:1"+test.path, test.body)
		require.Equal(t, 200, got.code, "%s: %s", test.body, got.body)
		require.Equal(t, test.want, s.service.updated[i].GetUpdateMask().GetPaths(), test.body)
		require.Equal(t, "a:1", s.service.updated[i].GetAction().GetMeta().GetId(), "the path names the action")
	}
	last := s.service.updated[len(s.service.updated)-1]
	require.True(t, last.GetAllowMissing())
	require.Equal(t, "e", last.GetEtag())
}

// RFC 9110: If-Match is the etag of PATCH and DELETE.
func TestIfMatch(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	require.Equal(t, 200, s.send(t, http.MethodPatch, "/v1/actions/a", `{"spec":{}}`, "If-Match", `"g-7"`).code)
	require.Equal(t, "g-7", s.service.updated[0].GetEtag())
	require.Equal(t, 200, s.send(t, http.MethodDelete, "/v1/actions/a?allowMissing=true", "", "If-Match", `"g-7"`).code)
	require.Equal(t, "g-7", s.service.deleted[0].GetEtag())
	require.True(t, s.service.deleted[0].GetAllowMissing())
	require.Equal(t, 200, s.send(t, http.MethodDelete, "/v1/actions/a", "", "If-Match", `*`).code)
	require.Empty(t, s.service.deleted[1].GetEtag())
	calls := s.service.calls()
	for _, tag := range []string{`g`, `W/"g"`, `"a", "b"`, `"`} {
		got := s.send(t, http.MethodDelete, "/v1/actions/a", "", "If-Match", tag)
		require.Equal(t, 400, got.code)
		requireViolation(t, got.err(t), "If-Match", ruleMalformed)
	}
	got := s.send(t, http.MethodDelete, "/v1/actions/a?etag=h", "", "If-Match", `"g"`)
	requireViolation(t, got.err(t), "etag", ruleContradiction)
	require.Equal(t, calls, s.service.calls())
}

// Each change reaches a watcher over REST when it happens, as a line of JSON, and
// the last line says why the stream ended.
func TestWatchOverRESTFlushes(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.base+"/v1/actions/a:watch", nil)
	require.NoError(t, err)
	go func() {
		s.service.changes <- &gnomonv1.ScheduledAction{Status: &gnomonv1.Status{ScheduledAt: timestamppb.New(noon)}}
	}()
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer func() { require.NoError(t, resp.Body.Close()) }()
	lines := bufio.NewScanner(resp.Body)
	require.True(t, lines.Scan())
	require.JSONEq(t, `{"result":{"action":{"status":{"scheduledAt":"2026-11-21T12:00:00Z"}}}}`, lines.Text())
	for _, id := range []string{"b", "c"} {
		// The service sends only after the line before was read, so a line that waited
		// for a buffer to fill would hang here.
		s.service.changes <- &gnomonv1.ScheduledAction{Meta: &gnomonv1.Meta{Id: id}}
		require.True(t, lines.Scan())
		require.JSONEq(t, `{"result":{"action":{"meta":{"id":"`+id+`"}}}}`, lines.Text())
	}
	go func() { _ = s.Stop(t.Context()) }()
	require.True(t, lines.Scan())
	var last struct {
		Error json.RawMessage `json:"error"`
	}
	require.NoError(t, json.Unmarshal(lines.Bytes(), &last))
	requireReason(t, answer{body: last.Error}.err(t), codes.Unavailable, reasonStopping)
	require.False(t, lines.Scan())
}

// What is beside the service.
func TestRESTExtras(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	document := s.get(t, "/openapi.json")
	require.Equal(t, 200, document.code)
	var openapi struct {
		OpenAPI string         `json:"openapi"`
		Paths   map[string]any `json:"paths"`
	}
	require.NoError(t, json.Unmarshal(document.body, &openapi))
	require.Equal(t, "3.1.0", openapi.OpenAPI)
	require.Contains(t, openapi.Paths, "/v1/actions/{id}:pause")

	got := s.get(t, "/v2/nothing")
	require.Equal(t, 404, got.code)
	requireReason(t, got.err(t), codes.NotFound, "UNKNOWN_PATH")
	got = s.send(t, http.MethodPut, "/v1/actions/a", "{}")
	require.Equal(t, 405, got.code)
	requireReason(t, got.err(t), codes.Unimplemented, "METHOD_NOT_ALLOWED")
	got = s.send(t, http.MethodPost, "/v1/actions/a", "", "Content-Type", "application/x-www-form-urlencoded", "X-HTTP-Method-Override", "DELETE")
	require.Equal(t, 405, got.code, "a form must not turn into another method")
}

// A web page of another origin must not command a facade that its reader can reach.
func TestCrossOriginIsRefused(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	got := s.send(t, http.MethodPost, "/v1/actions", `{"meta":{"id":"a"}}`, "Origin", "https://evil.example", "Content-Type", "text/plain")
	require.Equal(t, 403, got.code)
	requireReason(t, got.err(t), codes.PermissionDenied, "CROSS_ORIGIN")
	require.Zero(t, s.service.calls())
}
