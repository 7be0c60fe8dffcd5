package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/receiver"
	"gnomon/tracing"
)

const (
	createCall = "gnomon.v1.ActionService/CreateAction"
	startCall  = "StartWorkflow:Action"
	runMark    = "RunWorkflow:Action"
	startMark  = "StartActivity:Perform"
	attempt    = "RunActivity:Perform"
)

// Issue 4: one trace shows client, facade, workflow, attempt and receiver, with a span
// for each attempt. Tracing costs no event (design.md, event budget: once 16, a retry 0).
func TestOneTrace(t *testing.T) {
	t.Parallel()
	s := installTraced(t)
	s.work(t)
	id := s.id("a")
	made, err := s.calls.CreateAction(t.Context(), &gnomonv1.CreateActionRequest{
		RequestId: "request-1", Action: retrying(s.once(id, "/fail-first/1", time.Second), 3),
	})
	require.NoError(t, err)
	require.Equal(t, gnomonv1.Status_SUCCEEDED, s.closed(t, id, 30*time.Second).GetState())
	require.Len(t, s.events(t, id), 16, kinds(s.events(t, id)))

	calls := s.await(t, createCall, 2)
	client, facade := calls[0], calls[1]
	require.False(t, client.Parent.IsValid())
	child(t, client, facade)
	require.Equal(t, id, value(facade, tracing.ActionID))
	require.Equal(t, "request-1", value(facade, tracing.RequestID))
	start := s.await(t, startCall, 1)[0]
	child(t, facade, start)
	child(t, facade, s.await(t, "InsertAction", 1)[0])
	workflow := s.await(t, runMark, 1)[0]
	child(t, start, workflow)
	begun := s.await(t, startMark, 1)[0]
	child(t, workflow, begun)
	requests, attempts := s.await(t, "POST", 2), s.await(t, attempt, 2)
	for n, want := range []string{"FAILURE", "SUCCESS"} {
		child(t, begun, attempts[n])
		require.Equal(t, id, value(attempts[n], tracing.ActionID))
		require.Equal(t, made.GetMeta().GetGuid(), value(attempts[n], tracing.ActionGUID))
		require.Equal(t, made.GetStatus().GetScheduledAt().AsTime().Format(time.RFC3339Nano), value(attempts[n], tracing.Occurrence))
		require.Equal(t, fmt.Sprint(n+1), value(attempts[n], tracing.Attempt))
		require.Equal(t, want, value(attempts[n], tracing.Outcome))
		child(t, attempts[n], requests[n])
		arrival := s.of(id)[n]
		require.EqualValues(t, n+1, arrival.Attempt)
		seen := parentage(t, arrival.Header.Get("Traceparent"))
		require.Equal(t, client.SpanContext.TraceID(), seen.TraceID(), "the receiver is in the trace of the client")
		require.Equal(t, requests[n].SpanContext.SpanID(), seen.SpanID())
	}
	for _, span := range s.spans.GetSpans() {
		require.Less(t, span.EndTime.Sub(span.StartTime), 10*time.Second, "%s lasts as long as the workflow", span.Name)
	}
}

// Issue 4: W3C headers. A REST client's trace goes on too.
func TestTraceOverREST(t *testing.T) {
	t.Parallel()
	s := installTraced(t)
	s.work(t)
	id := s.id("a")
	body, err := protojson.Marshal(s.once(id, "/ok", 0))
	require.NoError(t, err)
	const trace = "4bf92f3577b34da6a3ce929d0e0e4736"
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.base+"/v1/actions", strings.NewReader(string(body)))
	require.NoError(t, err)
	req.Header.Set("Traceparent", "00-"+trace+"-00f067aa0ba902b7-01")
	req.Header.Set("Tracestate", "vendor=1")
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.Equal(t, http.StatusOK, resp.StatusCode)
	arrival := s.arrival(t, 20*time.Second, func(a receiver.Arrival) bool { return a.ActionID == id })
	require.Equal(t, trace, parentage(t, arrival.Header.Get("Traceparent")).TraceID().String())
	require.Equal(t, "vendor=1", arrival.Header.Get("Tracestate"))
	facade := s.await(t, createCall, 1)[0]
	require.Equal(t, "00f067aa0ba902b7", facade.Parent.SpanID().String())
}

// Issue 4: an occurrence of a periodic action begins a trace of its own, linked to the
// call that made the action. Tracing costs a tick no event (design.md, event budget: 11).
func TestTracesOfTicks(t *testing.T) {
	t.Parallel()
	s := installTraced(t)
	s.work(t)
	id := s.id("a")
	_, err := s.calls.CreateAction(t.Context(), &gnomonv1.CreateActionRequest{Action: every(s.once(id, "/ok", time.Second), time.Second)})
	require.NoError(t, err)
	s.arrival(t, 30*time.Second, func(receiver.Arrival) bool { return len(s.of(id)) >= 3 })
	workflow, arrivals := s.await(t, runMark, 1)[0], s.of(id)
	traces := map[string]bool{workflow.SpanContext.TraceID().String(): true}
	for n, begun := range s.named(startMark)[:3] {
		require.False(t, begun.Parent.IsValid())
		require.Len(t, begun.Links, 1)
		require.Equal(t, workflow.SpanContext.SpanID(), begun.Links[0].SpanContext.SpanID())
		traces[begun.SpanContext.TraceID().String()] = true
		require.Equal(t, begun.SpanContext.TraceID(), parentage(t, arrivals[n].Header.Get("Traceparent")).TraceID())
	}
	require.Len(t, traces, 4)
	// Fewer where the machine was so busy that the next tick was due already.
	require.LessOrEqual(t, ticksOf(t, s.installation, id, 5)-ticksOf(t, s.installation, id, 2), 3*11, kinds(s.events(t, id)))

	_, err = s.calls.PauseAction(t.Context(), &gnomonv1.PauseActionRequest{Id: id})
	require.NoError(t, err)
	paused := s.await(t, "HandleUpdate:pause", 1)[0]
	child(t, s.await(t, "UpdateWorkflow:pause", 1)[0], paused)
}

// Issue 4: what a command brought about is in the command's trace, also where another
// worker has to replay the workflow first, and where nobody answered at once.
func TestTracesOfCommands(t *testing.T) {
	t.Parallel()
	s := installTraced(t)
	s.work(t)
	id := s.id("a")
	_, err := s.calls.CreateAction(t.Context(), &gnomonv1.CreateActionRequest{Action: s.once(id, "/ok", time.Hour)})
	require.NoError(t, err)
	_, err = s.calls.UpdateAction(t.Context(), &gnomonv1.UpdateActionRequest{Action: s.once(id, "/ok", 6*time.Second)})
	require.NoError(t, err)
	updated := s.await(t, "HandleUpdate:update", 1)[0]
	child(t, s.await(t, "UpdateWorkflow:update", 1)[0], updated)
	s.rest()
	s.work(t)
	s.arrival(t, 30*time.Second, func(a receiver.Arrival) bool { return a.ActionID == id })
	child(t, updated, s.await(t, startMark, 1)[0])
	require.Len(t, s.named(runMark), 1, "a replay leaves no marks")
	require.Len(t, s.named("HandleUpdate:update"), 1)

	late := s.id("late")
	_, err = s.calls.CreateAction(t.Context(), &gnomonv1.CreateActionRequest{Action: s.once(late, "/ok", time.Hour)})
	require.NoError(t, err)
	s.rest()
	reply, err := s.calls.TriggerAction(t.Context(), &gnomonv1.TriggerActionRequest{Id: late})
	require.NoError(t, err)
	require.NotEmpty(t, reply.GetStatus().GetConditions(), "nobody answered")
	s.work(t)
	s.arrival(t, 30*time.Second, func(a receiver.Arrival) bool { return a.ActionID == late })
	left := s.await(t, "HandleSignal:trigger", 1)[0]
	child(t, s.await(t, "SignalWorkflow:trigger", 1)[0], left)
	begun := s.await(t, startMark, 2)[1]
	require.Equal(t, left.SpanContext.TraceID(), begun.SpanContext.TraceID())
}

// Issue 4: each command is in the trace of its caller, from the call to the workflow that
// applies it.
func TestTraceOfEachCommand(t *testing.T) {
	t.Parallel()
	s := installTraced(t)
	s.work(t)
	id := s.id("a")
	_, err := s.calls.CreateAction(t.Context(), &gnomonv1.CreateActionRequest{Action: s.once(id, "/ok", time.Hour)})
	require.NoError(t, err)
	for _, command := range []struct {
		method, name string
		call         func() error
	}{
		{"PauseAction", "pause", func() error {
			_, err := s.calls.PauseAction(t.Context(), &gnomonv1.PauseActionRequest{Id: id})
			return err
		}},
		{"ResumeAction", "resume", func() error {
			_, err := s.calls.ResumeAction(t.Context(), &gnomonv1.ResumeActionRequest{Id: id})
			return err
		}},
		{"UpdateAction", "update", func() error {
			_, err := s.calls.UpdateAction(t.Context(), &gnomonv1.UpdateActionRequest{Action: s.once(id, "/other", time.Hour)})
			return err
		}},
		{"DeleteAction", "cancel", func() error {
			_, err := s.calls.DeleteAction(t.Context(), &gnomonv1.DeleteActionRequest{Id: id})
			return err
		}},
	} {
		require.NoError(t, command.call(), command.method)
		calls := s.await(t, "gnomon.v1.ActionService/"+command.method, 2)
		client, facade := calls[0], calls[1]
		require.False(t, client.Parent.IsValid())
		child(t, client, facade)
		sent := s.await(t, "UpdateWorkflow:"+command.name, 1)[0]
		child(t, facade, sent)
		child(t, sent, s.await(t, "HandleUpdate:"+command.name, 1)[0])
	}
}
