package replay

import (
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/testing/protocmp"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
)

// same compares messages but for the texts for people in them, which may change.
func same(a, b proto.Message) bool { return proto.Equal(textless(a), textless(b)) }

// difference shows two messages that are not the same.
func difference(a, b proto.Message) string {
	return cmp.Diff(textless(a), textless(b), protocmp.Transform())
}

// textless is a copy without those texts.
func textless(m proto.Message) proto.Message {
	m = proto.Clone(m)
	st := status(m)
	for _, a := range []*gnomonv1.AttemptStatus{st.GetCurrentAttemptStatus(), st.GetLastAttemptStatus()} {
		if a != nil {
			a.Error = ""
		}
	}
	for _, c := range st.GetConditions() {
		c.Message = ""
	}
	if b := batchStatus(m); b != nil {
		b.Message = ""
		for _, c := range b.GetConditions() {
			c.Message = ""
		}
	}
	if in, ok := m.(*workflowv1.ProcessBatchInput); ok {
		in.Reason = ""
	}
	if ofNodes(m) {
		eraseReasons(m.ProtoReflect())
	}
	return m
}

// ofNodes says whether a message is of clusters or playbooks.
func ofNodes(m proto.Message) bool {
	switch m.(type) {
	case *workflowv1.ClusterState, *workflowv1.MirrorNodesInput, *workflowv1.AgentCancelInput,
		*workflowv1.PlaybookState, *workflowv1.MirrorPlaybookInput, *workflowv1.ClusterCommandInput, *gnomonv1.PlaybookStatus:
		return true
	default:
		return false
	}
}

// eraseReasons erases what such messages say for people, wherever it is in them.
func eraseReasons(m protoreflect.Message) {
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case f.IsMap():
		case f.IsList() && f.Message() != nil:
			for i := range v.List().Len() {
				eraseReasons(v.List().Get(i).Message())
			}
		case f.IsList():
		case f.Message() != nil:
			eraseReasons(v.Message())
		case f.Name() == "reason" || f.Name() == "cancel_reason" || f.FullName() == "gnomon.v1.Cycle.NodeError.message":
			m.Clear(f)
		}
		return true
	})
}

// batchStatus is the BatchStatus within what a workflow decides.
func batchStatus(m proto.Message) *gnomonv1.BatchStatus {
	switch m := m.(type) {
	case *gnomonv1.BatchStatus:
		return m
	case *workflowv1.ProcessBatchInput:
		return m.GetHead().GetStatus()
	case *workflowv1.StoreBatchInput:
		return m.GetHead().GetStatus()
	case *workflowv1.BatchState:
		return m.GetHead().GetStatus()
	default:
		return nil
	}
}

// status is the Status within what a workflow decides.
func status(m proto.Message) *gnomonv1.Status {
	switch m := m.(type) {
	case *gnomonv1.Status:
		return m
	case *workflowv1.PerformInput:
		return m.GetStatus()
	case *workflowv1.MirrorInput:
		return m.GetAction().GetStatus()
	case *workflowv1.ActionState:
		return m.GetStatus()
	default:
		return nil
	}
}
