package e2e

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	statuspb "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// restCall is one HTTP request.
type restCall struct {
	method, path, body string
	header             http.Header
}

// answer is what REST answered.
type answer struct {
	code   int
	header http.Header
	body   []byte
}

// status is the google.rpc.Status that the body is. Where a stream broke it is the
// member "error" of a line.
func (a answer) status(t *testing.T) *status.Status {
	t.Helper()
	line := struct {
		Error json.RawMessage `json:"error"`
	}{}
	body := a.body
	require.NoError(t, json.Unmarshal(body, &line), "%s", body)
	if line.Error != nil {
		body = line.Error
	}
	st := &statuspb.Status{}
	require.NoError(t, protojson.Unmarshal(body, st), "%s", body)
	return status.FromProto(st)
}

// restOf is the call over REST that says the same as a request over gRPC.
func restOf(t *testing.T, req proto.Message) *restCall {
	t.Helper()
	const collection = "/v1/actions"
	one := func(id string) string {
		return collection + "/" + strings.ReplaceAll(url.PathEscape(id), ":", "%3A")
	}
	query := url.Values{}
	text := func(name, value string) {
		if value != "" {
			query.Set(name, value)
		}
	}
	flag := func(name string, value bool) {
		if value {
			query.Set(name, "true")
		}
	}
	c := &restCall{method: http.MethodPost}
	switch r := req.(type) {
	case *gnomonv1.CreateActionRequest:
		c.path, c.body = collection, bodyOf(t, r.GetAction())
		text("requestId", r.GetRequestId())
		flag("validateOnly", r.GetValidateOnly())
	case *gnomonv1.BatchCreateActionsRequest:
		c.path, c.body = collection+":batchCreate", bodyOf(t, r)
	case *gnomonv1.GetActionRequest:
		c.method, c.path = http.MethodGet, one(r.GetId())
		flag("fresh", r.GetFresh())
	case *gnomonv1.ListActionsRequest:
		c.method, c.path = http.MethodGet, collection
		text("filter", r.GetFilter())
		text("orderBy", r.GetOrderBy())
		text("pageToken", r.GetPageToken())
		if r.GetPageSize() != 0 {
			query.Set("pageSize", strconv.Itoa(int(r.GetPageSize())))
		}
	case *gnomonv1.UpdateActionRequest:
		c.method, c.path, c.body = http.MethodPatch, one(r.GetAction().GetMeta().GetId()), bodyOf(t, r.GetAction())
		text("etag", r.GetEtag())
		text("requestId", r.GetRequestId())
		text("updateMask", strings.Join(r.GetUpdateMask().GetPaths(), ","))
		flag("allowMissing", r.GetAllowMissing())
		flag("validateOnly", r.GetValidateOnly())
	case *gnomonv1.DeleteActionRequest:
		c.method, c.path = http.MethodDelete, one(r.GetId())
		text("etag", r.GetEtag())
		text("requestId", r.GetRequestId())
		flag("allowMissing", r.GetAllowMissing())
	case *gnomonv1.PauseActionRequest:
		c.path, c.body = one(r.GetId())+":pause", bodyOf(t, r)
	case *gnomonv1.ResumeActionRequest:
		c.path, c.body = one(r.GetId())+":resume", bodyOf(t, r)
	case *gnomonv1.TriggerActionRequest:
		c.path, c.body = one(r.GetId())+":trigger", bodyOf(t, r)
	case *gnomonv1.WatchActionRequest:
		c.method, c.path = http.MethodGet, one(r.GetId())+":watch"
	case *gnomonv1.PreviewOccurrencesRequest:
		c.path, c.body = collection+":previewOccurrences", bodyOf(t, r)
	default:
		require.Fail(t, "no call for this", "%T", req)
	}
	if len(query) > 0 {
		c.path += "?" + query.Encode()
	}
	return c
}

func bodyOf(t *testing.T, m proto.Message) string {
	t.Helper()
	body, err := protojson.Marshal(m)
	require.NoError(t, err)
	return string(body)
}

// send makes one HTTP request.
func (s *served) send(t *testing.T, c *restCall) answer {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), c.method, s.base+c.path, strings.NewReader(c.body))
	require.NoError(t, err)
	maps.Copy(req.Header, c.header)
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	return answer{resp.StatusCode, resp.Header, body}
}
