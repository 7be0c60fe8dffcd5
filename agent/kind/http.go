package kind

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/outbound"
)

// defaultRequestTimeout is HttpRequest.timeout's default.
const defaultRequestTimeout = 10 * time.Second

// HTTP makes requests from the node.
type HTTP struct{ client *outbound.Client }

// NewHTTP returns the kind http_request.
func NewHTTP(c outbound.HTTPConfig) *HTTP { return &HTTP{client: outbound.NewClient(c)} }

// Permit permits every request: what can be reached from the node is up to its network.
func (*HTTP) Permit(*gnomonv1.NodeAction) error { return nil }

// Run makes the request, once. There is nothing to stop after a crash.
func (h *HTTP) Run(ctx context.Context, a *gnomonv1.NodeAction, _ func(string) error) Outcome {
	spec := a.GetHttpRequest()
	var body io.Reader
	if len(spec.GetBody()) > 0 {
		body = bytes.NewReader(spec.GetBody())
	}
	req, err := http.NewRequestWithContext(ctx, cmp.Or(spec.GetMethod(), http.MethodPost), spec.GetUrl(), body)
	if err != nil || !outbound.IsHTTP(req.URL) || req.URL.Host == "" {
		return failed("http_request.url must be an absolute http or https URL")
	}
	req.Header.Set("User-Agent", outbound.UserAgent)
	for name, value := range spec.GetHeaders() {
		req.Header.Set(name, value)
	}
	req.Header.Set("Idempotency-Key", a.GetCluster()+"/"+a.GetId())
	limit := spec.GetTimeout().AsDuration()
	if limit <= 0 {
		limit = defaultRequestTimeout
	}
	listed := func(status int) bool {
		return slices.ContainsFunc(spec.GetAcceptedStatus(), func(r *gnomonv1.HttpRequest_StatusRange) bool {
			return status >= int(r.GetFirst()) && status <= int(cmp.Or(r.GetLast(), r.GetFirst()))
		})
	}
	reply, err := h.client.Do(req, outbound.Call{Limit: limit, Redirects: outbound.FollowRedirects(listed), Keep: defaultOutputLimit})
	switch {
	case (err != nil || reply.Broken != nil) && ctx.Err() != nil:
		return Outcome{State: gnomonv1.NodeAction_CANCELLED, Reason: fmt.Sprint(context.Cause(ctx))}
	case err != nil:
		return failed("%v", err)
	}
	outcome := Outcome{State: gnomonv1.NodeAction_DONE, Result: &gnomonv1.NodeAction_Result{
		Code: int32(reply.Status), Output: strings.ToValidUTF8(string(reply.Body), "\uFFFD"),
	}}
	good := listed(reply.Status) || len(spec.GetAcceptedStatus()) == 0 && reply.Status >= 200 && reply.Status <= 299
	if !good || reply.Broken != nil {
		outcome.State = gnomonv1.NodeAction_FAILED
		outcome.Reason = fmt.Sprintf("%s answered with status %d", reply.Place, reply.Status)
		if good {
			outcome.Reason = reply.Broken.Error()
		}
	}
	return outcome
}
