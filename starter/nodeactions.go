package starter

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"

	"github.com/google/uuid"
	"google.golang.org/protobuf/proto"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/playbook"
	"gnomon/rule"
	"gnomon/store"
)

// ScheduleNodeAction implements the service. The workflow knows what is unfinished, the
// store what has finished: an id of either is taken.
func (s *Clusters) ScheduleNodeAction(ctx context.Context, req *gnomonv1.ScheduleNodeActionRequest) (*gnomonv1.NodeAction, error) {
	cluster := req.GetCluster()
	bad := append(playbook.ValidateCluster("cluster", cluster), under("action", playbook.ValidateAction(req.GetAction()))...)
	if err := invalid(append(bad, requestIDRule(req.GetRequestId())...), ""); err != nil {
		return nil, err
	}
	a := wantedNodeAction(cluster, req.GetAction())
	digest, err := digestOfMessage(a)
	if err != nil {
		return nil, err
	}
	if a.GetId() == "" {
		a.Id = mintNodeAction(cluster, req.GetRequestId())
	} else if known, err := s.scheduledBefore(ctx, a, req.GetRequestId(), digest); known != nil || err != nil {
		return known, err
	}
	if req.GetValidateOnly() {
		return s.wouldBe(ctx, a)
	}
	id := a.GetId()
	result, err := s.command(ctx, cluster, &workflowv1.ClusterCommand{
		Id: "schedule/" + id + "/" + commandID(req.GetRequestId()),
		Command: &workflowv1.ClusterCommand_Schedule_{Schedule: &workflowv1.ClusterCommand_Schedule{
			Actions: []*gnomonv1.NodeAction{a}, RequestId: req.GetRequestId(), Digest: digest,
		}},
	})
	switch {
	case refusedAs(err) == workflowv1.RefusedExists:
		return nil, nodeActionExists(cluster, id)
	case err != nil:
		return nil, clusterRefused(err, cluster, a.GetNode())
	case result.GetAction() == nil:
		// It was scheduled by this request before, and has finished.
		return s.GetNodeAction(ctx, &gnomonv1.GetNodeActionRequest{Cluster: cluster, Id: id})
	}
	s.mirrorNode(ctx, result, req.GetRequestId(), digest)
	return result.GetAction(), nil
}

// wantedNodeAction is what of a request's action is the caller's.
func wantedNodeAction(cluster string, a *gnomonv1.NodeAction) *gnomonv1.NodeAction {
	return &gnomonv1.NodeAction{
		Id: a.GetId(), Cluster: cluster, Node: a.GetNode(), Approve: a.GetApprove(), Action: a.GetAction(),
		Labels: a.GetLabels(), RequestedBy: a.GetRequestedBy(), Origin: gnomonv1.NodeAction_USER,
	}
}

// mintNodeAction is the id of an action that its caller did not name: the same for the
// same request_id, so that a call that is repeated meets what it did before.
func mintNodeAction(cluster, requestID string) string {
	if requestID == "" {
		return uuid.NewString()
	}
	return uuid.NewSHA1(uuid.NameSpaceOID, []byte("gnomon node action\x00"+cluster+"\x00"+requestID)).String()
}

// digestOfMessage tells what one request asks for from another under the same request_id.
func digestOfMessage(m proto.Message) (string, error) {
	contents, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil {
		return "", internal("ENCODING", "the request cannot be encoded", err)
	}
	sum := sha256.Sum256(contents)
	return hex.EncodeToString(sum[:8]), nil
}

// scheduledBefore is the action of this id that the store knows, if this call made it.
func (s *Clusters) scheduledBefore(ctx context.Context, a *gnomonv1.NodeAction, requestID, digest string) (*gnomonv1.NodeAction, error) {
	row, err := s.Store.GetNodeAction(ctx, a.GetCluster(), a.GetId())
	switch {
	case errors.Is(err, store.ErrNotFound):
		return nil, nil //nolint:nilnil // the id is free
	case err != nil:
		return nil, fromStore(ctx, err)
	case requestID == "" || row.RequestID != requestID:
		return nil, nodeActionExists(a.GetCluster(), a.GetId())
	case row.Digest != digest:
		return nil, invalidField("request_id", "REQUEST_ID_REUSED", messageRequestIDOfAnything)
	default:
		return row.Action, nil
	}
}

// wouldBe is what would be recorded of an action, if the cluster has its node.
func (s *Clusters) wouldBe(ctx context.Context, a *gnomonv1.NodeAction) (*gnomonv1.NodeAction, error) {
	seen, err := s.GetCluster(ctx, &gnomonv1.GetClusterRequest{Cluster: a.GetCluster()})
	if err != nil {
		return nil, err
	}
	for _, n := range seen.GetNodes() {
		if n.GetName() == a.GetNode() {
			a.State = gnomonv1.NodeAction_PENDING_SCHEDULE
			if a.GetApprove() {
				a.State = gnomonv1.NodeAction_PENDING_APPROVE
			}
			a.Class = playbook.Class(a.GetState())
			return a, nil
		}
	}
	return nil, nodeNotFound(a.GetCluster(), a.GetNode())
}

// ApproveNodeAction implements the service.
func (s *Clusters) ApproveNodeAction(ctx context.Context, req *gnomonv1.ApproveNodeActionRequest) (*gnomonv1.NodeAction, error) {
	d := &workflowv1.ClusterCommand_Decision{Action: req.GetId(), By: req.GetDecidedBy()}
	return s.decide(ctx, req.GetCluster(), d, &workflowv1.ClusterCommand{Command: &workflowv1.ClusterCommand_Approve{Approve: d}})
}

// RejectNodeAction implements the service.
func (s *Clusters) RejectNodeAction(ctx context.Context, req *gnomonv1.RejectNodeActionRequest) (*gnomonv1.NodeAction, error) {
	d := &workflowv1.ClusterCommand_Decision{Action: req.GetId(), By: req.GetDecidedBy(), Reason: req.GetReason()}
	return s.decide(ctx, req.GetCluster(), d, &workflowv1.ClusterCommand{Command: &workflowv1.ClusterCommand_Reject{Reject: d}})
}

// CancelNodeAction implements the service.
func (s *Clusters) CancelNodeAction(ctx context.Context, req *gnomonv1.CancelNodeActionRequest) (*gnomonv1.NodeAction, error) {
	d := &workflowv1.ClusterCommand_Decision{Action: req.GetId(), Reason: req.GetReason()}
	return s.decide(ctx, req.GetCluster(), d, &workflowv1.ClusterCommand{Command: &workflowv1.ClusterCommand_Cancel{Cancel: d}})
}

// decide sends a decision about one action.
func (s *Clusters) decide(ctx context.Context, cluster string, d *workflowv1.ClusterCommand_Decision, c *workflowv1.ClusterCommand) (*gnomonv1.NodeAction, error) {
	bad := append(playbook.ValidateCluster("cluster", cluster), decisionRules(d.GetAction(), d.GetBy(), d.GetReason())...)
	if err := invalid(bad, ""); err != nil {
		return nil, err
	}
	c.Id = commandID("")
	result, err := s.command(ctx, cluster, c)
	switch refusedAs(err) {
	case workflowv1.RefusedNotFound:
		return nil, s.finished(ctx, cluster, d.GetAction())
	case workflowv1.RefusedNotPending, workflowv1.RefusedFinished:
		return nil, nodeActionState(d.GetAction(), refusedState(err))
	}
	if err != nil {
		return nil, clusterRefused(err, cluster, "")
	}
	s.mirrorNode(ctx, result, "", "")
	return result.GetAction(), nil
}

// decisionRules check what a decision about an action or a playbook says.
func decisionRules(id, by, reason string) []rule.Violation {
	v := rule.Violations(idRule(id))
	if len(by) > playbook.MaxWho {
		v.Add("decided_by", rule.TooLong, "decided_by is %d bytes long, at most %d are allowed", len(by), playbook.MaxWho)
	}
	if len(reason) > playbook.MaxReason {
		v.Add("reason", rule.TooLong, "reason is %d bytes long, at most %d are allowed", len(reason), playbook.MaxReason)
	}
	return v
}

// finished is the refusal of a decision about an action that its cluster does not have:
// it has finished, or there is none. The row of an end may come a little later.
func (s *Clusters) finished(ctx context.Context, cluster, id string) error {
	wait, cancel := within(ctx, s.ApplyTimeout)
	defer cancel()
	for {
		row, err := s.Store.GetNodeAction(ctx, cluster, id)
		switch {
		case errors.Is(err, store.ErrNotFound):
			return nodeActionNotFound(cluster, id)
		case err != nil:
			return fromStore(ctx, err)
		case playbook.Finished(row.Action.GetState()):
			return nodeActionState(id, row.Action.GetState().String())
		case pauseFor(wait, closingPause) != nil:
			return unavailable(reasonMirrorNotCaughtUp, "the action has finished, and how is not stored yet; try again later", nil)
		}
	}
}

// mirrorNode writes the row that a command made, so that its caller reads what he wrote.
// The workflow stores it too, for as long as that takes.
func (s *Clusters) mirrorNode(ctx context.Context, result *workflowv1.ClusterResult, requestID, digest string) {
	write, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.MirrorTimeout)
	defer cancel()
	err := s.Store.PutNodeActions(write, []store.NodeActionRow{{
		Action:    result.GetAction(),
		Revision:  store.Revision{Incarnation: result.GetIncarnation().AsTime(), Sequence: result.GetSequence()},
		RequestID: requestID, Digest: digest,
	}})
	if err != nil {
		s.Logger.WarnContext(ctx, "The store did not take a node action's row; it follows later.", "nodeAction", result.GetAction().GetId(), "error", err)
	}
}
