package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/durationpb"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/store/faulty"
)

// F20: what is in a body, a header, a query or the text of an error is in no log of
// facade and worker, from debug on, and in no span; the ids are.
func TestTracesAndLogsTellNoSecrets(t *testing.T) {
	t.Parallel()
	s := installTraced(t)
	s.work(t)
	act := func(name string, change func(*gnomonv1.ScheduledAction)) string {
		a := s.once(s.id(name), "/ok", 0)
		change(a)
		_, err := s.calls.CreateAction(t.Context(), &gnomonv1.CreateActionRequest{Action: a})
		require.NoError(t, err)
		return a.GetMeta().GetId()
	}
	mocked := func(m *gnomonv1.MockAction) func(*gnomonv1.ScheduledAction) {
		return func(a *gnomonv1.ScheduledAction) {
			a.Spec.Action = &gnomonv1.Action{Action: &gnomonv1.Action_MockAction{MockAction: m}}
		}
	}
	s.store.Set(faulty.Faults{Fail: 1, Only: []faulty.Method{faulty.PutActions, faulty.InsertAction}})
	fails := act("fails", mocked(&gnomonv1.MockAction{Behaviour: &gnomonv1.MockAction_Fail_{Fail: &gnomonv1.MockAction_Fail{Message: canary}}}))
	panics := act("panics", mocked(&gnomonv1.MockAction{Behaviour: &gnomonv1.MockAction_Panic_{Panic: &gnomonv1.MockAction_Panic{}}}))
	status := act("status", func(a *gnomonv1.ScheduledAction) {
		a.GetSpec().GetAction().GetHttpRequest().Url = s.inbox.URL("/status/503")
		secretive(a)
	})
	late := act("late", func(a *gnomonv1.ScheduledAction) {
		r := a.GetSpec().GetAction().GetHttpRequest()
		r.Url, r.Timeout = s.inbox.URL("/block"), durationpb.New(time.Second)
		secretive(a)
	})
	well := act("well", func(a *gnomonv1.ScheduledAction) { secretive(a) })
	push := act("push", pushFault(func(p *gnomonv1.SendTechnicalPush) { p.Recipient, p.Payload = canary, []byte(canary) }))
	require.NoError(t, s.client.SignalWorkflow(t.Context(), workflowv1.WorkflowID(late), "", "pause", canary))
	_, err := s.calls.CreateAction(t.Context(), &gnomonv1.CreateActionRequest{RequestId: canary + "\x00", Action: &gnomonv1.ScheduledAction{
		Meta: &gnomonv1.Meta{Id: "no id " + canary},
	}})
	require.Error(t, err)
	body := strings.NewReader(`{"spec":{"action":{"httpRequest":{"body":"` + canary)
	refused, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.base+"/v1/actions?q="+canary, body)
	require.NoError(t, err)
	refused.Header.Set("Traceparent", canary)
	refused.Header.Set("Authorization", canary)
	reply, err := http.DefaultClient.Do(refused)
	require.NoError(t, err)
	require.NoError(t, reply.Body.Close())
	eventually(t, 20*time.Second, "rows wait for the store", func() bool { return s.store.Injected(faulty.PutActions) > 5 })
	s.store.Set(faulty.Faults{})
	for _, id := range []string{fails, panics, status, late, well, push} {
		st := s.closed(t, id, 30*time.Second)
		require.Equal(t, id == well, st.GetState() == gnomonv1.Status_SUCCEEDED, id)
	}
	s.await(t, attempt, 6)
	for _, span := range s.spans.GetSpans() {
		silent(t, "the span "+span.Name, fmt.Sprintf("%+v", span))
	}
	silent(t, "the log", s.logs.String())

	require.NotEmpty(t, s.named("POST"))
	require.NotEmpty(t, s.logs.with(`"Error":"an error of type FailedFinally"`), "the SDK tells of the attempts that failed")
	panicked := s.logs.with("A performer panicked.")
	require.Len(t, panicked, 1)
	for _, id := range []string{`"action":"` + panics + `"`, `"guid":"`, `"occurrence":"`, `"attempt":1`, `"trace_id":"`, `"span_id":"`} {
		require.Contains(t, panicked[0], id)
	}
	for _, line := range s.logs.with("CreateAction") {
		require.Contains(t, line, `"trace_id":"`)
	}
}
