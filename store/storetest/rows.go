package storetest

import (
	"context"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/store"
)

// background is the context of calls that are to succeed. The suite also calls
// from property tests, which have no context of their own.
var background = context.Background()

// option changes a row that is being made.
type option func(*store.Row)

// row makes a live row: scheduled, of a mock action, in the chain "chain-1", with
// the revision at(1).
func row(id string, options ...option) store.Row {
	r := store.Row{
		Action: &gnomonv1.ScheduledAction{
			Meta: &gnomonv1.Meta{Id: id, Guid: "guid-of-" + id, CreateTime: timestamppb.New(epoch)},
			Spec: &gnomonv1.Spec{
				StartPolicy: &gnomonv1.StartPolicy{StartAt: timestamppb.New(epoch)},
				Action:      mockAction(),
			},
			Status: &gnomonv1.Status{
				State:       gnomonv1.Status_SCHEDULED,
				ScheduledAt: timestamppb.New(epoch),
			},
		},
		Revision: at(1),
		Chain:    "chain-1",
	}
	for _, o := range options {
		o(&r)
	}
	return r
}

// at is a revision within the first incarnation.
func at(sequence uint64) store.Revision {
	return store.Revision{Incarnation: epoch, Sequence: sequence}
}

func revision(r store.Revision) option { return func(row *store.Row) { row.Revision = r } }

func chain(name string) option { return func(row *store.Row) { row.Chain = name } }

// counted makes rows of one id tell apart what was written.
func counted(n uint64) option {
	return func(row *store.Row) { row.Action.Status.SuccessfulAttemptsCounter = n }
}

func ended(row *store.Row) {
	row.Tombstone = true
	row.Action.Status.State = gnomonv1.Status_SUCCEEDED
}

func state(s gnomonv1.Status_State) option {
	return func(row *store.Row) { row.Action.Status.State = s }
}

func labels(l map[string]string) option { return func(row *store.Row) { row.Action.Meta.Labels = l } }

func performs(a *gnomonv1.Action) option { return func(row *store.Row) { row.Action.Spec.Action = a } }

// due sets scheduled_at; the zero time removes it.
func due(when time.Time) option {
	return func(row *store.Row) {
		row.Action.Status.ScheduledAt = nil
		if !when.IsZero() {
			row.Action.Status.ScheduledAt = timestamppb.New(when)
		}
	}
}

func mockAction() *gnomonv1.Action {
	return &gnomonv1.Action{Action: &gnomonv1.Action_MockAction{MockAction: &gnomonv1.MockAction{}}}
}

func pushAction() *gnomonv1.Action {
	return &gnomonv1.Action{Action: &gnomonv1.Action_SendTechnicalPush{
		SendTechnicalPush: &gnomonv1.SendTechnicalPush{Recipient: "someone", Payload: []byte{0, 1, 0xff}},
	}}
}

func httpAction() *gnomonv1.Action {
	return &gnomonv1.Action{Action: &gnomonv1.Action_HttpRequest{
		HttpRequest: &gnomonv1.HttpRequest{Url: "https://example.org/?a=b&c='d'"},
	}}
}

// ids gives the ids of rows, in their order.
func ids(rows []store.Row) []string {
	names := make([]string, len(rows))
	for i, r := range rows {
		names[i] = r.Action.GetMeta().GetId()
	}
	return names
}
