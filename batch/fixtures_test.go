package batch

import (
	"time"

	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
)

// now is when everything here happens, due when the batch is to be applied.
var (
	now = time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	due = now.Add(time.Hour)
)

func httpChange() *gnomonv1.Change {
	return &gnomonv1.Change{Change: &gnomonv1.Change_HttpChange{HttpChange: &gnomonv1.HttpChange{
		ValidateUrl: "http://localhost/validate", ApplyUrl: "http://localhost/apply",
		Body: structpb.NewStringValue("x"),
	}}}
}

func dnsChange() *gnomonv1.Change {
	return &gnomonv1.Change{Change: &gnomonv1.Change_DnsRecord{DnsRecord: &gnomonv1.DnsRecordChange{
		Action: gnomonv1.DnsRecordChange_ADD, Name: "www.example.org.", Type: gnomonv1.DnsRecordChange_A,
		Ttl: 300, Data: []string{"192.0.2.1"},
	}}}
}

func valid() *gnomonv1.Batch {
	return &gnomonv1.Batch{
		Id: "b", ScheduledAt: timestamppb.New(due), Changes: []*gnomonv1.Change{httpChange(), dnsChange()},
	}
}

// pending is the state of a batch that was accepted.
func pending() *workflowv1.BatchState {
	b := Normalise(valid())
	b.Uid = "0123456789abcdef"
	return New(b, now, "")
}

// in is a batch that has come to a state.
func in(state gnomonv1.BatchStatus_State) *workflowv1.BatchState {
	s := pending()
	s.Head.Status.State = state
	return s
}

// finished are changes in these states.
func finished(states ...gnomonv1.ChangeStatus_State) []*gnomonv1.Change {
	var all []*gnomonv1.Change
	for _, state := range states {
		all = append(all, &gnomonv1.Change{Status: &gnomonv1.ChangeStatus{State: state}})
	}
	return all
}
