package entity

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/timestamppb"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/stages"
)

// call makes one REST call.
func (s *site) call(method, path, body string) (int, map[string]any) {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.rest+path, strings.NewReader(body))
	require.NoError(s.t, err)
	resp, err := http.DefaultClient.Do(req)
	require.NoError(s.t, err)
	text, err := io.ReadAll(resp.Body)
	require.NoError(s.t, err)
	require.NoError(s.t, resp.Body.Close())
	var reply map[string]any
	require.NoError(s.t, json.Unmarshal(text, &reply), "%s", text)
	return resp.StatusCode, reply
}

// Issue 7, 1: everything by REST, with the paths and shapes of the issue.
func TestREST(t *testing.T) {
	t.Parallel()
	due := time.Now().Add(180 * 24 * time.Hour).Truncate(time.Second)
	withdraw, slow := &played{}, &played{}
	withdraw.should = func(*gnomonv1.ShouldProcessRequest) (*gnomonv1.ShouldProcessResponse, error) {
		return &gnomonv1.ShouldProcessResponse{Answer: &gnomonv1.ShouldProcessResponse_Timer{Timer: timestamppb.New(due)}}, nil
	}
	hold := make(chan struct{})
	slow.process = held(hold, nil)
	s := open(t, stage("withdraw", withdraw, nil), stage("slow", slow, func(d *stages.Declaration) { d.Fields, d.Parallelism = []string{"model"}, 2 }))

	code, reply := s.call("PUT", "/v1/entities/"+s.kind+"/o:1", `{"content": {"model": "a4", "deep": {"list": [1, null, true]}}}`)
	require.Equal(t, 200, code, "%v", reply)
	require.Equal(t, "1", reply["version"])
	code, reply = s.call("GET", "/v1/entities/"+s.kind+"/o:1", "")
	require.Equal(t, 200, code)
	require.Equal(t, map[string]any{"model": "a4", "deep": map[string]any{"list": []any{1.0, nil, true}}}, reply["content"])
	code, _ = s.call("PUT", "/v1/entities/"+s.kind+"/o:1", `{"content": {}, "version": 7}`)
	require.Equal(t, 409, code)
	code, reply = s.call("GET", "/v1/entities/"+s.kind, "")
	require.Equal(t, 200, code)
	require.Len(t, reply["entities"], 1)

	// Seed 004, check and peek: what waits is seen, with the timer beside it.
	s.becomes("it is visited and the timer is armed", func() bool {
		_, reply = s.call("GET", "/v1/entities/"+s.kind+"/o:1:check", "")
		pending, _ := reply["pending"].([]any)
		timers, _ := reply["timers"].([]any)
		return len(pending) == 1 && len(timers) == 1
	})
	require.Equal(t, "slow", reply["pending"].([]any)[0].(map[string]any)["stage"])
	timer := reply["timers"].([]any)[0].(map[string]any)
	require.Equal(t, map[string]any{"stage": "withdraw", "dueTime": due.UTC().Format(time.RFC3339)}, timer)
	s.becomes("it is in the queue", func() bool {
		_, reply = s.call("GET", "/v1/stages/slow/queue", "")
		entries, _ := reply["entries"].([]any)
		return len(entries) == 1 && entries[0].(map[string]any)["id"] == "o:1"
	})
	_, reply = s.call("GET", "/v1/stages", "")
	require.Len(t, reply["stages"], 2)
	require.Equal(t, []any{"model"}, reply["stages"].([]any)[0].(map[string]any)["fields"])
	close(hold)
	s.becomes("it leaves the queue", func() bool {
		_, reply = s.call("GET", "/v1/stages/slow/queue", "")
		return len(reply) == 0
	})

	// G-18: compare-and-set.
	path := "/v1/entities/" + s.kind + "/o:1/stages/slow/state"
	code, reply = s.call("PUT", path, `{"state": {"@type": "type.googleapis.com/google.protobuf.Struct", "value": {"a": 1}}, "version": 0}`)
	require.Equal(t, 200, code, "%v", reply)
	require.Equal(t, true, reply["updated"])
	code, reply = s.call("PUT", path, `{"state": {"@type": "type.googleapis.com/google.protobuf.Struct", "value": {"a": 2}}, "version": 0}`)
	require.Equal(t, 200, code)
	require.Equal(t, false, reply["updated"])
	_, reply = s.call("GET", path, "")
	require.Equal(t, map[string]any{"@type": "type.googleapis.com/google.protobuf.Struct", "value": map[string]any{"a": 1.0}}, reply["state"])
	require.Equal(t, "1", reply["version"])
	visits := len(slow.seen("o:1"))
	code, reply = s.call("PUT", path, `{"version": 1, "visit": true}`)
	require.Equal(t, 200, code)
	require.NotContains(t, reply["current"], "state")
	s.becomes("it is visited", func() bool { return len(slow.seen("o:1")) == visits+1 })

	// G-30.
	code, reply = s.call("POST", "/v1/stages/slow:rewalk", `{"unconditional": true}`)
	require.Equal(t, 200, code, "%v", reply)
	s.becomes("it has walked", func() bool {
		_, reply = s.call("GET", "/v1/stages/slow:rewalk", "")
		return reply["state"] == "DONE"
	})
	require.Equal(t, "1", reply["walked"])
	require.Equal(t, "1", reply["enqueued"])
	require.Equal(t, "1", reply["total"])
	_, reply = s.call("POST", "/v1/stages/slow:cancelRewalk", `{}`)
	require.Equal(t, "DONE", reply["state"])
	for _, path := range []string{"/v1/stages/nobody/queue", "/v1/stages/nobody:rewalk", "/v1/stages/withdraw:rewalk", "/v1/entities/" + s.kind + "/none", "/v1/entities/" + s.kind + "/none:check"} {
		code, reply = s.call("GET", path, "")
		require.Equal(t, 404, code, "%s: %v", path, reply)
	}

	// A watch is one line for each version, and ends with the entity.
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.rest+"/v1/entities/"+s.kind+"/o:1:watch", nil)
	require.NoError(t, err)
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer func() { require.NoError(t, resp.Body.Close()) }()
	lines := bufio.NewScanner(resp.Body)
	require.True(t, lines.Scan())
	s.settles("o:1")
	code, _ = s.call("DELETE", "/v1/entities/"+s.kind+"/o:1?version=1", "")
	require.Equal(t, 200, code)
	require.False(t, lines.Scan())
	code, _ = s.call("GET", "/v1/entities/"+s.kind+"/o:1:check", "")
	require.Contains(t, []int{200, 404}, code, "the workflow may be about to end")
	s.becomes("its workflow has ended", func() bool {
		code, _ = s.call("GET", "/v1/entities/"+s.kind+"/o:1:check", "")
		return code == 404
	})
	_, reply = s.call("PUT", "/v1/entities/"+s.kind+"/o:1", `{"content": {}}`)
	require.Equal(t, "3", reply["version"], "the deletion has one too")
	s.becomes("all is published", func() bool { return len(s.saved.of(s.kind+"/o:1")) >= 3 })
}
