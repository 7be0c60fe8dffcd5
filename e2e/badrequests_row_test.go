package e2e

import (
	"cmp"
	"context"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// badRequest is a request that must be refused, over gRPC and over REST alike.
type badRequest struct {
	name string
	// req is the request over gRPC; nil where only JSON or HTTP can say it.
	req proto.Message
	// rest is the call over REST; nil where req says it too, see restOf.
	rest *restCall
	// onlyGRPC: neither JSON nor HTTP can say it.
	onlyGRPC bool
	// code is the refusal; OK stands for INVALID_ARGUMENT.
	code codes.Code
	// field is the path in BadRequest; empty where no field is to blame.
	field string
	// reason is ErrorInfo's, which is also the rule of the field.
	reason string
	// restReason is the reason where REST notices earlier and otherwise.
	restReason string
	// violations is how many fields are to blame; 0 stands for one.
	violations int
	// http is the status over REST; 0 is the usual one for the code.
	http int
}

// usualHTTP is the HTTP status of a code in google.rpc.Code.
var usualHTTP = map[codes.Code]int{
	codes.InvalidArgument:    http.StatusBadRequest,
	codes.FailedPrecondition: http.StatusBadRequest,
	codes.NotFound:           http.StatusNotFound,
	codes.AlreadyExists:      http.StatusConflict,
	codes.Aborted:            http.StatusConflict,
}

// run makes the request in every way in which it can be made, and gives the text
// of every error it got.
func (b badRequest) run(t *testing.T, s *served) {
	t.Helper()
	if b.code == codes.OK {
		b.code = codes.InvalidArgument
	}
	if b.req != nil {
		err := call(t.Context(), s.calls, b.req)
		require.Error(t, err, "gRPC accepted it")
		s.tell(status.Convert(err).Proto().String())
		b.check(t, status.Convert(err), b.reason)
	}
	if b.onlyGRPC {
		return
	}
	rest := b.rest
	if rest == nil {
		rest = restOf(t, b.req)
	}
	got := s.send(t, rest)
	s.tell(string(got.body))
	require.Equal(t, cmp.Or(b.http, usualHTTP[b.code]), got.code, "%s", got.body)
	require.Equal(t, "application/json", got.header.Get("Content-Type"))
	b.check(t, got.status(t), cmp.Or(b.restReason, b.reason))
}

// check holds code, details and, where one is to blame, the field.
func (b badRequest) check(t *testing.T, st *status.Status, reason string) {
	t.Helper()
	require.Equal(t, b.code, st.Code(), "%v", st)
	require.NotEmpty(t, st.Message())
	var info *errdetails.ErrorInfo
	var bad *errdetails.BadRequest
	for _, detail := range st.Details() {
		switch d := detail.(type) {
		case *errdetails.ErrorInfo:
			info = d
		case *errdetails.BadRequest:
			bad = d
		}
	}
	require.Equal(t, "gnomon", info.GetDomain(), "%v", st)
	require.Equal(t, reason, info.GetReason(), "%v", st)
	if b.field == "" {
		require.Nil(t, bad, "%v", st)
		return
	}
	require.Len(t, bad.GetFieldViolations(), max(1, b.violations), "%v", st)
	for _, v := range bad.GetFieldViolations() {
		require.NotEmpty(t, v.GetDescription(), v.GetField())
		require.NotEmpty(t, v.GetReason(), v.GetField())
	}
	first := bad.GetFieldViolations()[0]
	require.Equal(t, b.field, first.GetField(), "%v", st)
	require.Equal(t, reason, first.GetReason(), "%v", st)
	require.Contains(t, st.Message(), b.field+": "+first.GetDescription())
}

// ids are the ids that the request would have created.
func (b badRequest) ids() []string {
	switch r := b.req.(type) {
	case *gnomonv1.CreateActionRequest:
		return []string{r.GetAction().GetMeta().GetId()}
	case *gnomonv1.UpdateActionRequest:
		return []string{r.GetAction().GetMeta().GetId()}
	}
	return nil
}

// call makes the call that a request is for. A stream is read to its end.
func call(ctx context.Context, c gnomonv1.ActionServiceClient, req proto.Message) error {
	var err error
	switch r := req.(type) {
	case *gnomonv1.CreateActionRequest:
		_, err = c.CreateAction(ctx, r)
	case *gnomonv1.BatchCreateActionsRequest:
		_, err = c.BatchCreateActions(ctx, r)
	case *gnomonv1.GetActionRequest:
		_, err = c.GetAction(ctx, r)
	case *gnomonv1.ListActionsRequest:
		_, err = c.ListActions(ctx, r)
	case *gnomonv1.UpdateActionRequest:
		_, err = c.UpdateAction(ctx, r)
	case *gnomonv1.DeleteActionRequest:
		_, err = c.DeleteAction(ctx, r)
	case *gnomonv1.PauseActionRequest:
		_, err = c.PauseAction(ctx, r)
	case *gnomonv1.ResumeActionRequest:
		_, err = c.ResumeAction(ctx, r)
	case *gnomonv1.TriggerActionRequest:
		_, err = c.TriggerAction(ctx, r)
	case *gnomonv1.PreviewOccurrencesRequest:
		_, err = c.PreviewOccurrences(ctx, r)
	case *gnomonv1.WatchActionRequest:
		stream, opened := c.WatchAction(ctx, r)
		if opened != nil {
			return opened
		}
		_, err = stream.Recv()
	default:
		panic(req.ProtoReflect().Descriptor().FullName() + " is no request of the service")
	}
	return err
}
