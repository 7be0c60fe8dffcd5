package e2e

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// issue 2: what is bad within a batch is refused by itself, with its place, and
// what is good is created, over gRPC and REST.
func TestBadBatch(t *testing.T) {
	t.Parallel()
	s := serveFacade(t, nil)
	s.stand(t)
	bad := slices.Concat(badSchedules(s), badRetries(s), badRepeats(s), badContents(s), badConflicts(s))
	send := map[string]func(*gnomonv1.BatchCreateActionsRequest) *gnomonv1.BatchCreateActionsResponse{
		"grpc": func(req *gnomonv1.BatchCreateActionsRequest) *gnomonv1.BatchCreateActionsResponse {
			reply, err := s.calls.BatchCreateActions(t.Context(), req)
			require.NoError(t, err)
			return reply
		},
		"rest": func(req *gnomonv1.BatchCreateActionsRequest) *gnomonv1.BatchCreateActionsResponse {
			got := s.send(t, restOf(t, req))
			require.Equal(t, http.StatusOK, got.code, "%s", got.body)
			reply := &gnomonv1.BatchCreateActionsResponse{}
			require.NoError(t, protojson.Unmarshal(got.body, reply))
			return reply
		},
	}
	kept := []string{s.id(standing), s.id(paused)}
	var refused []string
	for way, send := range send {
		req := &gnomonv1.BatchCreateActionsRequest{}
		wants := map[int]badRequest{}
		add := func(r *gnomonv1.CreateActionRequest) int {
			req.Requests = append(req.Requests, r)
			return len(req.GetRequests()) - 1
		}
		for _, row := range bad {
			if way == "rest" && row.rest != nil {
				continue // JSON cannot say it, and refuses the batch: see below
			}
			wants[add(row.req.(*gnomonv1.CreateActionRequest))] = row
			refused = append(refused, row.ids()...)
			if len(req.GetRequests())%10 == 0 {
				id := s.id(fmt.Sprintf("%s-%d", way, len(req.GetRequests())))
				kept = append(kept, id)
				add(&gnomonv1.CreateActionRequest{Action: s.once(id, "/ok", time.Hour)})
			}
		}
		require.Greater(t, len(wants), 60)
		require.Greater(t, len(req.GetRequests()), len(wants)+5)
		reply := send(req)
		require.Len(t, reply.GetResults(), len(req.GetRequests()))
		for n, result := range reply.GetResults() {
			row, isBad := wants[n]
			if !isBad {
				require.Nil(t, result.GetError(), "%s %d", way, n)
				require.Equal(t, req.GetRequests()[n].GetAction().GetMeta().GetId(), result.GetAction().GetMeta().GetId())
				require.NotEmpty(t, result.GetAction().GetMeta().GetGuid())
				continue
			}
			require.Nil(t, result.GetAction(), row.name)
			want := &gnomonv1.BatchCreateActionsResponse_Error{
				Code: int32(row.code), Field: row.field, Reason: row.reason, Message: result.GetError().GetMessage(),
			}
			if row.code == codes.OK {
				want.Code = int32(codes.InvalidArgument)
			}
			require.True(t, proto.Equal(want, result.GetError()), "%s %d %s: %v", way, n, row.name, result.GetError())
			require.NotEmpty(t, result.GetError().GetMessage())
		}
	}
	for _, id := range refused {
		if !slices.Contains(kept, id) {
			s.nothing(t, id)
		}
	}
	for _, row := range s.badBatches() {
		row.run(t, s)
	}
	s.only(t, kept)
}

// badBatches are refused as a whole.
func (s *served) badBatches() []badRequest {
	good := &gnomonv1.CreateActionRequest{Action: s.once(s.id("unmade"), "/ok", time.Hour)}
	json := func(name, body, field, reason string) badRequest {
		return badRequest{name: name, rest: &restCall{method: http.MethodPost, path: "/v1/actions:batchCreate", body: body}, field: field, reason: reason}
	}
	huge := json("huge", `{"requests":[{"action":{"meta":{"id":"`+s.id("unmade")+`"}}}],"`+strings.Repeat("x", 1<<20)+`":0}`, "body", "TOO_LARGE")
	huge.http = http.StatusRequestEntityTooLarge
	action, err := protojson.Marshal(good.GetAction())
	if err != nil {
		panic(err)
	}
	return []badRequest{
		huge,
		{name: "empty", req: &gnomonv1.BatchCreateActionsRequest{}, field: "requests", reason: "OUT_OF_RANGE"},
		{name: "1001", req: &gnomonv1.BatchCreateActionsRequest{Requests: slices.Repeat([]*gnomonv1.CreateActionRequest{good}, 1001)}, field: "requests", reason: "OUT_OF_RANGE"},
		json("second is broken", fmt.Sprintf(`{"requests":[{"action":%s},{"action":{"spec":{"startPolicy":{"startAt":"x"}}}}]}`, action), "requests[1].action.spec.start_policy.start_at", "BAD_VALUE"),
		json("second is unknown", fmt.Sprintf(`{"requests":[{"action":%s},{"actoin":{}}]}`, action), "requests[1].actoin", "UNKNOWN_FIELD"),
	}
}

// issue 2: a message that is too big is refused before it is read, and leaves
// nothing behind.
func TestHugeMessages(t *testing.T) {
	t.Parallel()
	s := serveFacade(t, nil)
	a := s.once(s.id("huge"), "/ok", time.Hour)
	a.GetSpec().GetAction().GetHttpRequest().Body = make([]byte, 1<<20)
	for _, req := range []proto.Message{
		&gnomonv1.CreateActionRequest{Action: a},
		&gnomonv1.UpdateActionRequest{Action: a, AllowMissing: true},
		&gnomonv1.PreviewOccurrencesRequest{Spec: a.GetSpec()},
		&gnomonv1.PauseActionRequest{Id: "x", Etag: strings.Repeat("x", 1<<20)},
	} {
		// gRPC refuses it beneath the service, so there are no details.
		require.Equal(t, codes.ResourceExhausted, status.Code(call(t.Context(), s.calls, req)))
		got := s.send(t, restOf(t, req))
		require.Equal(t, http.StatusRequestEntityTooLarge, got.code)
		badRequest{code: codes.InvalidArgument, field: "body", reason: "TOO_LARGE"}.check(t, got.status(t), "TOO_LARGE")
	}
	s.nothing(t, a.GetMeta().GetId())
	s.only(t, nil)
}
