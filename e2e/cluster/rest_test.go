package cluster

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// rest makes one call.
func (s *site) call(t *testing.T, method, path, body string) (int, map[string]any) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, s.rest+path, strings.NewReader(body))
	require.NoError(t, err)
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	text, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	var reply map[string]any
	require.NoError(t, json.Unmarshal(text, &reply), "%s", text)
	return resp.StatusCode, reply
}

// Issue 6, 2 and 4: the same by REST, with the fields and the states as the issue has them.
func TestREST(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.agent(t, "n1", nil)
	s.health(t, gnomonv1.Node_UP, "n1")
	base := "/v1/clusters/" + s.cluster

	code, reply := s.call(t, "PUT", base+"/nodes/n2", `{"labels": {"role": "db"}}`)
	require.Equal(t, 200, code, "%v", reply)
	require.Equal(t, "n2", reply["name"])
	code, reply = s.call(t, "DELETE", base+"/nodes/n2", "")
	require.Equal(t, 200, code, "%v", reply)

	code, reply = s.call(t, "POST", base+"/actions", `{"id": "a", "node": "n1", "approve": true, "exec": {"argv": ["/bin/sh", "-c", "echo rest"]}}`)
	require.Equal(t, 200, code, "%v", reply)
	require.Equal(t, "PENDING_APPROVE", reply["state"])
	code, reply = s.call(t, "GET", base+"/actions/a", "")
	require.Equal(t, 200, code)
	require.Equal(t, "CORE_INTERMEDIATE", reply["class"])
	code, reply = s.call(t, "POST", base+"/actions/a:approve", `{"decidedBy": "bob"}`)
	require.Equal(t, 200, code, "%v", reply)
	s.reaches(t, "a", gnomonv1.NodeAction_DONE)
	_, reply = s.call(t, "GET", base+"/actions/a", "")
	require.Equal(t, "DONE", reply["state"])
	require.Equal(t, "SUCCESS", reply["class"])
	for _, verb := range []string{"approve", "reject", "cancel"} {
		code, reply = s.call(t, "POST", base+"/actions/a:"+verb, `{}`)
		require.Equal(t, 400, code, "%v", reply) // FAILED_PRECONDITION
		require.Contains(t, reply["message"], "DONE")
	}
	code, reply = s.call(t, "GET", base+"/actions?states=DONE&pageSize=5", "")
	require.Equal(t, 200, code, "%v", reply)
	require.Len(t, reply["actions"], 1)
	code, reply = s.call(t, "POST", base+":nudge", `{}`)
	require.Equal(t, 200, code, "%v", reply)
	require.NotEmpty(t, reply["cycle"])
	code, reply = s.call(t, "GET", base, "")
	require.Equal(t, 200, code, "%v", reply)
	require.Len(t, reply["nodes"], 1)

	id := s.cluster + ".p"
	code, reply = s.call(t, "POST", "/v1/playbooks", fmt.Sprintf(`{"id": %q, "cluster": %q, "stages": [
		{"name": "one", "nodes": ["n1"], "exec": {"argv": ["/bin/sh", "-c", "exit 1"]}, "onFailure": "CONTINUE"},
		{"name": "two", "nodes": ["n1"], "exec": {"argv": ["/bin/sh", "-c", "true"]}, "onFailure": "STOP"}]}`, id, s.cluster))
	require.Equal(t, 200, code, "%v", reply)
	require.Eventually(t, func() bool {
		code, reply = s.call(t, "GET", "/v1/playbooks/"+id, "")
		require.Equal(t, 200, code, "%v", reply)
		return reply["status"].(map[string]any)["state"] == "DONE"
	}, within, 20*time.Millisecond)
	stages := reply["status"].(map[string]any)["stages"].([]any)
	require.Equal(t, "UNSUCCESSFUL", stages[0].(map[string]any)["state"])
	require.Equal(t, "SUCCEEDED", stages[1].(map[string]any)["state"])
	code, reply = s.call(t, "POST", "/v1/playbooks/"+id+":cancel", `{}`)
	require.Equal(t, 400, code, "%v", reply)
	code, reply = s.call(t, "GET", "/v1/playbooks?cluster="+s.cluster, "")
	require.Equal(t, 200, code, "%v", reply)
	require.Len(t, reply["playbooks"], 1)
	code, reply = s.call(t, "GET", "/openapi.json", "")
	require.Equal(t, 200, code)
	require.Contains(t, reply["paths"], "/v1/playbooks/{id}:nudge")
}
