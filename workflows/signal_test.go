package workflows_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
)

// Signals that the workflow finds in one task are applied in the order in which they
// were accepted, although the SDK has a channel for each name.
func TestSignalsInTheirOrder(t *testing.T) {
	t.Parallel()
	const pause, resume, trigger = workflowv1.CommandPause, workflowv1.CommandResume, workflowv1.CommandTrigger
	for name, c := range map[string]struct {
		signals []string
		state   gnomonv1.Status_State
		acted   int
	}{
		"pause, resume":                  {[]string{pause, resume}, gnomonv1.Status_SCHEDULED, 0},
		"resume, pause":                  {[]string{resume, pause}, gnomonv1.Status_PAUSED, 0},
		"pause, trigger":                 {[]string{pause, trigger}, gnomonv1.Status_PAUSED, 0},
		"pause, resume, trigger":         {[]string{pause, resume, trigger}, gnomonv1.Status_SCHEDULED, 1},
		"pause, trigger, resume":         {[]string{pause, trigger, resume}, gnomonv1.Status_SCHEDULED, 0},
		"pause, resume, pause":           {[]string{pause, resume, pause}, gnomonv1.Status_PAUSED, 0},
		"update, pause, resume, trigger": {[]string{"update", pause, resume, trigger}, gnomonv1.Status_SCHEDULED, 1},
		"update, trigger, pause":         {[]string{"update", trigger, pause}, gnomonv1.Status_PAUSED, 0},
		"trigger, update":                {[]string{trigger, "update"}, gnomonv1.Status_SCHEDULED, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			updated := "guid-1"
			w.at(start.Add(-30*time.Second), func() {
				for i, s := range c.signals {
					payload := &workflowv1.Command{}
					if s == "update" {
						payload, updated = update(periodic(time.Hour, nil), "guid-2"), "guid-2"
					}
					w.signalWith(i == len(c.signals)-1, s, payload)
				}
			})
			w.at(start.Add(-time.Second), func() {
				a := w.action().GetAction()
				require.Equal(t, c.state, a.GetStatus().GetState())
				require.Equal(t, updated, a.GetMeta().GetGuid())
				require.Empty(t, a.GetStatus().GetConditions(), "what did not fit was dropped, not malformed")
				w.signal(workflowv1.CommandCancel)
			})
			w.finish(state(periodic(time.Hour, nil)))
			require.Len(t, w.attempts, c.acted)
		})
	}
}

// In one task: an update and then a cancellation is a deleted action, by whichever
// of the two ways the cancellation comes.
func TestUpdateThenCancel(t *testing.T) {
	t.Parallel()
	for how, cancel := range map[string]func(*world){
		"signal": func(w *world) { w.signal(workflowv1.CommandCancel) },
		"cancel": func(w *world) { w.env.CancelWorkflow() },
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.at(accepted.Add(time.Second), func() {
				w.signalWith(false, workflowv1.CommandUpdate, update(once(nil), "guid-2"))
				cancel(w)
			})
			st := w.finish(state(once(nil)))
			require.Equal(t, gnomonv1.Status_DELETED, st.GetState())
			require.Empty(t, w.attempts)
			row, _ := w.rows.Row("a")
			require.Equal(t, "guid-2", row.Action.GetMeta().GetGuid())
		})
	}
}

// A malformed signal changes nothing, shows in Status and its row, and never fails
// the run (P-02).
func TestMalformedSignals(t *testing.T) {
	t.Parallel()
	garbage := converter.NewRawValue(&commonpb.Payload{
		Metadata: map[string][]byte{"encoding": []byte("binary/protobuf")}, Data: []byte{0xff, 0xff, 0xff},
	})
	unreadable := converter.NewRawValue(&commonpb.Payload{
		Metadata: map[string][]byte{"encoding": []byte("json/plain")}, Data: []byte(`{"etag": `),
	})
	for name, c := range map[string]struct {
		signal  string
		payload any
		message string
	}{
		"bad JSON":                {workflowv1.CommandPause, unreadable, "is not the JSON of gnomon.workflow.v1.Command"},
		"text":                    {workflowv1.CommandPause, "secret", "is not the JSON of gnomon.workflow.v1.Command"},
		"a number":                {workflowv1.CommandPause, 7, "is not the JSON of gnomon.workflow.v1.Command"},
		"a list":                  {workflowv1.CommandPause, []int{1}, "is not the JSON of gnomon.workflow.v1.Command"},
		"an unknown field":        {workflowv1.CommandPause, map[string]any{"secret": 1}, "is not the JSON of gnomon.workflow.v1.Command"},
		"bytes":                   {workflowv1.CommandPause, []byte("secret"), `has the encoding "binary/plain"`},
		"binary garbage":          {workflowv1.CommandPause, garbage, "is not a gnomon.workflow.v1.Command"},
		"an unknown name":         {"explode", nil, "no command has this name"},
		"an update of nothing":    {workflowv1.CommandUpdate, nil, "spec must be set"},
		"an update against rules": {workflowv1.CommandUpdate, update(periodic(0, nil), ""), "period"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.at(accepted.Add(time.Second), func() { w.env.SignalWorkflow(c.signal, c.payload) })
			w.at(start.Add(-time.Second), func() {
				a := w.action().GetAction()
				require.Equal(t, gnomonv1.Status_SCHEDULED, a.GetStatus().GetState())
				require.Equal(t, "guid-1", a.GetMeta().GetGuid())
				require.Len(t, a.GetStatus().GetConditions(), 1)
				got := a.GetStatus().GetConditions()[0]
				require.Equal(t, "CommandsAccepted", got.GetType())
				require.Equal(t, gnomonv1.Condition_FALSE, got.GetStatus())
				require.Contains(t, got.GetMessage(), c.message)
				require.NotContains(t, got.GetMessage(), "secret")
				row, ok := w.rows.Row("a")
				require.True(t, ok)
				require.Equal(t, a.GetStatus().String(), row.Action.GetStatus().String())
			})
			st := w.finish(state(once(nil)))
			require.Equal(t, gnomonv1.Status_SUCCEEDED, st.GetState())
			require.Len(t, st.GetConditions(), 1)
			require.Equal(t, []time.Duration{0}, w.acted())
		})
	}
}

// What a person sends by hand works as the facade's does: no payload, null, plain
// JSON, binary proto.
func TestSignalsByHand(t *testing.T) {
	t.Parallel()
	for name, payload := range map[string]any{
		"nothing": nil,
		"null":    converter.NewRawValue(&commonpb.Payload{Metadata: map[string][]byte{"encoding": []byte("json/plain")}, Data: []byte("null")}),
		"empty":   map[string]any{},
		"etag":    map[string]any{"etag": "guid-1"},
		"binary": converter.NewRawValue(&commonpb.Payload{
			Metadata: map[string][]byte{"encoding": []byte("binary/protobuf")}, Data: []byte("\x12\x06guid-1"),
		}),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.at(accepted.Add(time.Second), func() { w.env.SignalWorkflow(workflowv1.CommandCancel, payload) })
			require.Equal(t, gnomonv1.Status_DELETED, w.finish(state(once(nil))).GetState())
		})
	}
}

// A signal that does not fit is dropped without a fuss.
func TestSignalsThatDoNotFit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.at(accepted.Add(time.Second), func() {
		w.signal(workflowv1.CommandResume)
		w.signalWith(true, workflowv1.CommandCancel, &workflowv1.Command{Etag: "guid-0"})
	})
	st := w.finish(state(once(nil)))
	require.Equal(t, gnomonv1.Status_SUCCEEDED, st.GetState())
	require.Empty(t, st.GetConditions())
}

// P-02: a command that came as an update and again as a signal is applied once.
func TestACommandThatComesTwice(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := &workflowv1.Command{Id: "c-1"}
	w.at(start.Add(-50*time.Second), func() { w.update(workflowv1.CommandTrigger, c) })
	w.at(start.Add(-40*time.Second), func() { w.signalWith(true, workflowv1.CommandTrigger, c) })
	w.at(start.Add(-30*time.Second), func() { w.update(workflowv1.CommandTrigger, c) })
	w.at(start.Add(-20*time.Second), func() { w.signal(workflowv1.CommandCancel) })
	w.finish(state(periodic(time.Hour, nil)))
	require.Equal(t, []time.Duration{-50 * time.Second}, w.acted())
}

// Two updates sent by hand, without a Guid, get two.
func TestUpdatesByHandGetGuids(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	guids := map[string]bool{"guid-1": true}
	for i := range 3 {
		w.at(accepted.Add(time.Duration(i+1)*time.Second), func() { w.signalWith(true, workflowv1.CommandUpdate, update(once(nil), "")) })
		w.at(accepted.Add(time.Duration(i+1)*time.Second+time.Millisecond), func() { guids[w.action().GetAction().GetMeta().GetGuid()] = true })
	}
	w.finish(state(once(nil)))
	require.Len(t, guids, 4)
	require.NotContains(t, guids, "")
}
