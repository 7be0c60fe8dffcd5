package metrics

import (
	"context"
	"path"
	"slices"

	"google.golang.org/grpc"

	"gnomon/action/life"
	gnomonv1 "gnomon/api/gnomon/v1"
)

// methodCreate is what each action of a batch counts as.
const methodCreate = "CreateAction"

// accepting are the methods that accept something.
var accepting = []string{methodCreate, "UpdateAction", "DeleteAction", "PauseAction", "ResumeAction", "TriggerAction"}

// countAccepted counts what a call has accepted. A call that repeats one before it, by
// its request_id, counts again; one that only validates does not.
func (f *Facade) countAccepted(ctx context.Context, req any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
	reply, err := next(ctx, req)
	if err != nil {
		return reply, err
	}
	if only, ok := req.(interface{ GetValidateOnly() bool }); ok && only.GetValidateOnly() {
		return reply, nil
	}
	switch answer := reply.(type) {
	case *gnomonv1.ScheduledAction:
		if method := path.Base(info.FullMethod); slices.Contains(accepting, method) {
			f.count(method, answer)
		}
	case *gnomonv1.BatchCreateActionsResponse:
		f.countBatch(req, answer)
	}
	return reply, nil
}

// countBatch counts those of a batch that were created and not only validated.
func (f *Facade) countBatch(req any, answer *gnomonv1.BatchCreateActionsResponse) {
	batch, ok := req.(*gnomonv1.BatchCreateActionsRequest)
	if !ok {
		return
	}
	for i, result := range answer.GetResults() {
		validated := i < len(batch.GetRequests()) && batch.GetRequests()[i].GetValidateOnly()
		if result.GetError() == nil && !validated {
			f.count(methodCreate, result.GetAction())
		}
	}
}

func (f *Facade) count(method string, answer *gnomonv1.ScheduledAction) {
	f.accepted.WithLabelValues(method, kindOf(answer.GetSpec().GetAction())).Inc()
	for _, c := range answer.GetStatus().GetConditions() {
		if c.GetType() == life.ConditionApplied && c.GetStatus() == gnomonv1.Condition_FALSE {
			f.left.WithLabelValues(method).Inc()
		}
	}
}
