package storetest

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/store"
)

// unusualIDs are legal by the rule of Meta.id and easy to get wrong.
var unusualIDs = []string{
	"a", "A", "0", "-", "_", "~", ":", "--", "--x", "a.b", "a..b", "a:b:c", "a_b", "a-b", "~a~",
	"NULL", "null", "true", "0x1F", "1e9", "9007199254740993", "00", "a.", "a_", "a~", "_a", "_a_",
	strings.Repeat("x", 200), strings.Repeat("_", 199) + "~",
}

var contentTests = []test{
	// M-45: Meta, Spec and Status come back whole.
	{"what is written comes back in every field", func(t *testing.T, b *bundle) {
		want := row("full", labels(map[string]string{"team": "a", "empty": ""}), performs(pushAction()))
		want.Revision = store.Revision{Incarnation: epoch.Add(123456789), Sequence: 1<<64 - 1, Attempt: 1<<32 - 1, Phase: store.PhaseLast}
		want.Chain = "0191e6c2-run"
		want.DeletedBy = "it's r-1"
		want.Action.Spec.SendPolicy = &gnomonv1.SendPolicy{
			Policy: &gnomonv1.SendPolicy_SendPeriodicallyPolicy{SendPeriodicallyPolicy: &gnomonv1.SendPeriodicallyPolicy{
				Period: durationpb.New(time.Minute), RetryPolicy: &gnomonv1.RetryPolicy{RestartPeriodBackOff: 1.5},
			}},
			Deadline: timestamppb.New(epoch.AddDate(100, 0, 0)),
		}
		want.Action.Status.FailedAttemptsCounter = 1<<64 - 1
		want.Action.Status.LastAttemptStatus = &gnomonv1.AttemptStatus{Attempt: 3, Error: "it's \"broken\"\n\x00é"}
		want.Action.Status.Conditions = []*gnomonv1.Condition{{Type: "Mirrored", Status: gnomonv1.Condition_TRUE}}
		b.putAll(t, want)
		b.requireRow(t, want)

		rows, err := b.ListActions(t.Context(), store.ActionQuery{Limit: 10})
		require.NoError(t, err)
		require.Len(t, rows, 1)
		requireEqual(t, want, rows[0])
	}},
	{"parts that are absent stay absent and empty ones stay empty", func(t *testing.T, b *bundle) {
		bare := store.Row{Action: &gnomonv1.ScheduledAction{Meta: &gnomonv1.Meta{Id: "bare"}}, Revision: at(1)}
		hollow := store.Row{Action: &gnomonv1.ScheduledAction{
			Meta: &gnomonv1.Meta{Id: "hollow"}, Spec: &gnomonv1.Spec{}, Status: &gnomonv1.Status{},
		}, Revision: at(1)}
		b.putAll(t, bare, hollow)
		b.requireRow(t, bare)
		b.requireRow(t, hollow)
	}},
	{"what the caller changes after the write changes nothing", func(t *testing.T, b *bundle) {
		r := row("a", labels(map[string]string{"k": "v"}))
		want := r
		want.Action = proto.CloneOf(r.Action)
		b.putAll(t, r)
		r.Action.Meta.Labels["k"] = "changed"
		r.Action.Status.State = gnomonv1.Status_PAUSED
		b.requireRow(t, want)
	}},
	{"a big row comes back", func(t *testing.T, b *bundle) {
		big := row("big")
		big.Action.Spec.Action = &gnomonv1.Action{Action: &gnomonv1.Action_HttpRequest{
			HttpRequest: &gnomonv1.HttpRequest{Body: make([]byte, 256<<10)},
		}}
		b.putAll(t, big)
		b.requireRow(t, big)
	}},
	// The rule of Meta.id.
	{"unusual ids are told apart", func(t *testing.T, b *bundle) {
		rows := make([]store.Row, len(unusualIDs))
		for i, id := range unusualIDs {
			rows[i] = row(id, counted(uint64(i)))
		}
		b.putAll(t, rows...)
		for i, id := range unusualIDs {
			b.requireRow(t, rows[i])
			require.Equal(t, []string{id}, b.list(t, store.ActionQuery{ID: id}))
		}
		require.Len(t, b.list(t, store.ActionQuery{}), len(unusualIDs))
	}},
	{"a row without an id is refused", func(t *testing.T, b *bundle) {
		for _, bad := range []store.Row{{}, {Action: &gnomonv1.ScheduledAction{}}, row("")} {
			_, err := b.PutActions(t.Context(), []store.Row{row("good"), bad})
			require.Error(t, err)
			_, err = b.InsertAction(t.Context(), bad)
			require.Error(t, err)
		}
	}},
	{"an id that was never written is not found", func(t *testing.T, b *bundle) {
		b.putAll(t, row("there"))
		for _, id := range []string{"", "not-there", "THERE", "ther", "there ", "%", "t%"} {
			b.requireNone(t, id)
		}
	}},
	{"no rows are written by no rows", func(t *testing.T, b *bundle) {
		applied, err := b.PutActions(t.Context(), nil)
		require.NoError(t, err)
		require.Empty(t, applied)
	}},
}
