package starter

import (
	"bufio"
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/timestamppb"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/rule"
	"gnomon/store"
)

// served is a facade of entities behind gRPC and REST.
func served(t *testing.T) (entityFacade, *testServer) {
	t.Helper()
	f := newEntityFacade(t)
	return f, serveServices(t, nil, func(*fakeService) Services { return Services{Entities: f.Entities} })
}

// The shapes of issue 7 over REST.
func TestEntitiesOverREST(t *testing.T) {
	t.Parallel()
	f, s := served(t)
	got := s.send(t, http.MethodPut, "/v1/entities/offer/o-1", `{"content": {"model": "a", "tags": [1, null, {"x": true}]}}`)
	require.Equal(t, 200, got.code, "%s", got.body)
	want := `{"type":"offer","id":"o-1","content":{"model":"a","tags":[1,null,{"x":true}]},"version":"1","createTime":"2026-11-21T12:00:00Z","updateTime":"2026-11-21T12:00:00Z"}`
	require.JSONEq(t, want, string(got.body))
	require.JSONEq(t, want, string(s.get(t, "/v1/entities/offer/o-1").body))
	require.JSONEq(t, `{"entities":[`+want+`]}`, string(s.get(t, "/v1/entities/offer?pageSize=10").body))
	for _, version := range []string{`1`, `"2"`} {
		got = s.send(t, http.MethodPut, "/v1/entities/offer/o-1", `{"content": {"model": `+version+`}, "version": `+version+`}`)
		require.Equal(t, 200, got.code, "%s", got.body)
	}
	got = s.send(t, http.MethodPut, "/v1/entities/offer/o-1", `{"content": {}, "version": 1}`)
	require.Equal(t, 409, got.code)
	requireReason(t, got.err(t), codes.Aborted, reasonVersionMismatch)
	got = s.send(t, http.MethodPut, "/v1/entities/offer/o-1?createOnly=true&requestId=r&validateOnly=false", `{"content": {}}`)
	requireReason(t, got.err(t), codes.AlreadyExists, reasonEntityExists)
	require.Equal(t, 409, got.code)

	require.JSONEq(t, `{}`, string(s.get(t, "/v1/entities/offer/o-1:check").body))
	f.temporal.open["entity/offer/o-1"] = &gnomonv1.CheckEntityResponse{
		Pending: []*gnomonv1.CheckEntityResponse_Pending{{Stage: "price", EnqueueTime: timestamppb.New(noon), Visiting: true}},
		Timers:  []*gnomonv1.CheckEntityResponse_Timer{{Stage: "price", DueTime: timestamppb.New(noon)}},
	}
	require.JSONEq(t, `{"pending":[{"stage":"price","enqueueTime":"2026-11-21T12:00:00Z","visiting":true}],"timers":[{"stage":"price","dueTime":"2026-11-21T12:00:00Z"}]}`,
		string(s.get(t, "/v1/entities/offer/o-1:check").body))

	f.rows.queue = []store.QueueEntry{{Key: store.EntityKey{Type: "offer", ID: "o-1"}, Stage: "price", EnqueueTime: noon}}
	require.JSONEq(t, `{"entries":[{"type":"offer","id":"o-1","enqueueTime":"2026-11-21T12:00:00Z"}]}`, string(s.get(t, "/v1/stages/price/queue").body))
	require.Contains(t, string(s.get(t, "/v1/stages").body), `"rateLimit":2.5`)
	got = s.send(t, http.MethodPost, "/v1/stages/price:rewalk", `{"rate": 5}`)
	requireReason(t, got.err(t), codes.NotFound, reasonRewalkNotFound) // the fake's walk ended unseen
	f.temporal.open["rewalk/price"] = &gnomonv1.Rewalk{Stage: "price", State: gnomonv1.Rewalk_RUNNING, Total: 7}
	for _, method := range []string{http.MethodPost, http.MethodGet} {
		require.JSONEq(t, `{"stage":"price","state":"RUNNING","total":"7"}`, string(s.send(t, method, "/v1/stages/price:rewalk", "").body))
	}
	delete(f.temporal.open, "rewalk/price")
	f.rows.walks["price"] = &gnomonv1.Rewalk{Stage: "price", State: gnomonv1.Rewalk_CANCELLED}
	require.JSONEq(t, `{"stage":"price","state":"CANCELLED"}`, string(s.send(t, http.MethodPost, "/v1/stages/price:cancelRewalk", "{}").body))

	require.Equal(t, 409, s.send(t, http.MethodDelete, "/v1/entities/offer/o-1?version=7", "").code)
	require.JSONEq(t, `{}`, string(s.send(t, http.MethodDelete, "/v1/entities/offer/o-1", "").body))
	require.Equal(t, 404, s.get(t, "/v1/entities/offer/o-1").code)
	require.Contains(t, string(s.get(t, "/openapi.json").body), "/v1/entities/{type}/{id}/stages/{stage}/state")
}

// States over REST are JSON by their "@type", as far as gnomon knows it.
func TestStatesOverREST(t *testing.T) {
	t.Parallel()
	f, s := served(t)
	f.put(t, "o", map[string]any{"a": 1.0})
	path := "/v1/entities/offer/o/stages/price/state"
	require.JSONEq(t, `{}`, string(s.get(t, path).body))
	for version, state := range []string{
		`{"@type":"type.googleapis.com/google.protobuf.Struct","value":{"seen":3,"list":[1]}}`,
		`{"@type":"type.googleapis.com/google.protobuf.StringValue","value":"x"}`,
		`{"@type":"type.googleapis.com/google.protobuf.Int64Value","value":"7"}`,
		`{"@type":"type.googleapis.com/google.protobuf.Timestamp","value":"2026-11-21T12:00:00Z"}`,
		`{"@type":"type.googleapis.com/google.protobuf.Empty"}`,
		`{"@type":"type.googleapis.com/gnomon.v1.GetEntityRequest","id":"x"}`,
	} {
		got := s.send(t, http.MethodPut, path, fmt.Sprintf(`{"state": %s, "version": %d}`, state, version))
		require.Equal(t, 200, got.code, "%s", got.body)
		current := fmt.Sprintf(`{"state":%s,"version":"%d","updateTime":"2026-11-21T12:00:00Z"}`, state, version+1)
		require.JSONEq(t, `{"updated":true,"current":`+current+`}`, string(got.body))
		require.JSONEq(t, current, string(s.get(t, path).body))
		got = s.send(t, http.MethodPut, path, `{"version": 100}`)
		require.Equal(t, 200, got.code)
		require.JSONEq(t, `{"updated":false,"current":`+current+`}`, string(got.body))
	}
	got := s.send(t, http.MethodPut, path, `{"state": {"@type":"type.googleapis.com/acme.State","x":1}, "version": 6}`)
	require.Equal(t, 400, got.code)
	requireViolation(t, got.err(t), "state.@type", ruleUnknownMessage)
	require.Contains(t, got.err(t).Error(), "acme.State")

	// Over gRPC any message is a state, which REST cannot say.
	r, err := gnomonv1.NewEntityServiceClient(s.conn).UpdateStageState(t.Context(), &gnomonv1.UpdateStageStateRequest{
		Type: "offer", Id: "o", Stage: "price", Version: 6, State: &anypb.Any{TypeUrl: "type.googleapis.com/acme.State", Value: []byte{8, 1}},
	})
	require.NoError(t, err)
	require.True(t, r.GetUpdated())
	for _, got := range []answer{s.get(t, path), s.send(t, http.MethodPut, path, `{"version": 3}`)} {
		require.Equal(t, 400, got.code)
		requireReason(t, got.err(t), codes.FailedPrecondition, reasonUnknownState)
	}
	require.Equal(t, 404, s.get(t, "/v1/entities/offer/o/stages/nobody/state").code)
}

// Bad requests that only REST can make.
func TestBadEntityRequestsOverREST(t *testing.T) {
	t.Parallel()
	f, s := served(t)
	for _, bad := range []struct{ method, path, body, field, rule string }{
		{http.MethodPut, "/v1/entities/offer/o", `{"content": [1]}`, "entity.content", ruleBadValue},
		{http.MethodPut, "/v1/entities/offer/o", `{"content": {}, "colour": 1}`, "entity.colour", ruleUnknownField},
		{http.MethodPut, "/v1/entities/offer/o", `{"content": {}, "version": "x"}`, "entity.version", ruleBadValue},
		{http.MethodPut, "/v1/entities/offer/o", `{`, "body", ruleMalformedJSON},
		{http.MethodPut, "/v1/entities/offer/o", ``, "entity.content", rule.Required},
		{http.MethodPut, "/v1/entities/Offer/o", `{"content": {}}`, "entity.type", rule.InvalidCharacter},
		{http.MethodPut, "/v1/entities/offer/a%2Fb", `{"content": {}}`, "entity.id", rule.InvalidCharacter},
		{http.MethodPut, "/v1/entities/offer/o?colour=1", `{"content": {}}`, "colour", ruleUnknownField},
		{http.MethodGet, "/v1/entities/offer?pageSize=x", ``, "page_size", ruleBadValue},
		{http.MethodPost, "/v1/stages/price:rewalk", `{"rate": 10001}`, "rate", rule.OutOfRange},
		{http.MethodPut, "/v1/entities/offer/o/stages/price/state", `{"state": 1}`, "state", ruleBadValue},
		{http.MethodPut, "/v1/entities/offer/o/stages/price/state", `{"state": {}}`, "state.type_url", rule.Required},
	} {
		got := s.send(t, bad.method, bad.path, bad.body)
		require.Equal(t, 400, got.code, "%s %s: %s", bad.path, bad.body, got.body)
		requireViolation(t, got.err(t), bad.field, bad.rule)
	}
	require.Empty(t, f.rows.all)
	require.Empty(t, f.temporal.started)
}

// A watch over REST is one line of JSON for each change.
func TestWatchingAnEntityOverREST(t *testing.T) {
	t.Parallel()
	f, s := served(t)
	f.put(t, "o", map[string]any{"a": 1.0})
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.base+"/v1/entities/offer/o:watch", nil)
	require.NoError(t, err)
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer func() { require.NoError(t, resp.Body.Close()) }()
	lines := bufio.NewScanner(resp.Body)
	require.True(t, lines.Scan())
	require.Contains(t, lines.Text(), `"version":"1"`)
	f.put(t, "o", map[string]any{"a": 2.0})
	require.True(t, lines.Scan())
	require.Contains(t, lines.Text(), `"version":"2"`)
	_, err = f.DeleteEntity(t.Context(), &gnomonv1.DeleteEntityRequest{Type: "offer", Id: "o"})
	require.NoError(t, err)
	require.False(t, lines.Scan())
}

// Health knows the service, and the log of a call names the entity and nothing of it.
func TestEntityServiceIsServedAsTheOthers(t *testing.T) {
	t.Parallel()
	f, s := served(t)
	reply, err := healthv1.NewHealthClient(s.conn).Check(t.Context(), &healthv1.HealthCheckRequest{Service: "gnomon.v1.EntityService"})
	require.NoError(t, err)
	require.NotEqual(t, healthv1.HealthCheckResponse_SERVICE_UNKNOWN, reply.GetStatus())
	f.put(t, "o", map[string]any{"a": "secret"})
	require.Equal(t, 200, s.send(t, http.MethodPut, "/v1/entities/offer/o", `{"content":{"a":"other-secret"}}`).code)
	require.NotContains(t, s.log.String(), "secret")
	require.Contains(t, s.log.String(), "EntityService/PutEntity")
}
