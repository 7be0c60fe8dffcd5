package starter

import (
	"fmt"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"

	workflowv1 "gnomon/api/gnomon/workflow/v1"
)

// Reasons of errors about clusters, nodes, their actions and playbooks.
const (
	reasonClusterNotFound      = "CLUSTER_NOT_FOUND"
	reasonClusterFull          = "CLUSTER_FULL"
	reasonNodeNotFound         = "NODE_NOT_FOUND"
	reasonNodeBusy             = "NODE_HAS_UNFINISHED_ACTIONS"
	reasonNodeActionNotFound   = "NODE_ACTION_NOT_FOUND"
	reasonNodeActionExists     = "NODE_ACTION_ALREADY_EXISTS"
	reasonNodeActionState      = "NODE_ACTION_STATE"
	reasonPlaybookNotFound     = "PLAYBOOK_NOT_FOUND"
	reasonPlaybookExists       = "PLAYBOOK_ALREADY_EXISTS"
	reasonPlaybookState        = "PLAYBOOK_STATE"
	reasonNoWorker             = "NO_WORKER"
	reasonMirrorNotCaughtUp    = "NOT_STORED_YET"
	messageRequestIDOfAnything = "was used for something else"
)

// clusterRefused maps why a cluster refused a command that is not about one action. Node
// is the one it is about, if any.
func clusterRefused(err error, cluster, node string) error {
	switch refusedAs(err) {
	case workflowv1.RefusedNoNode:
		return nodeNotFound(cluster, node)
	case workflowv1.RefusedUnfinished:
		return refuse(codes.FailedPrecondition, reasonNodeBusy,
			fmt.Sprintf("node %q has unfinished actions; wait for them, cancel them, or use force", node), map[string]string{"cluster": cluster, "node": node},
			&errdetails.PreconditionFailure{Violations: []*errdetails.PreconditionFailure_Violation{{
				Type: reasonNodeBusy, Subject: node, Description: "it has unfinished actions",
			}}})
	case workflowv1.RefusedFull:
		return refuse(codes.ResourceExhausted, reasonClusterFull,
			fmt.Sprintf("cluster %q has as many nodes or unfinished actions as it can hold; try again when some have finished", cluster), map[string]string{"cluster": cluster})
	case workflowv1.RefusedReused:
		return invalidField("request_id", "REQUEST_ID_REUSED", messageRequestIDOfAnything)
	case "":
		return clusterUnasked(err, cluster)
	default:
		return internal("COMMAND_REFUSED", "the workflow refused the command", err)
	}
}

// noWorker says that a command may be applied later, or never: who makes it again under
// the same request_id gets it once.
func noWorker(cause error) error {
	return unavailable(reasonNoWorker, "no worker answered; whether the call took effect is not known, try again later", cause)
}

func clusterNotFound(id string) error {
	return refuse(codes.NotFound, reasonClusterNotFound, fmt.Sprintf("no cluster %q", clip(id, maxMetadataValue)), map[string]string{"cluster": id})
}

func nodeNotFound(cluster, node string) error {
	return refuse(codes.NotFound, reasonNodeNotFound,
		fmt.Sprintf("cluster %q has no node %q", clip(cluster, maxMetadataValue), clip(node, maxMetadataValue)), map[string]string{"cluster": cluster, "node": node})
}

func nodeActionNotFound(cluster, id string) error {
	return refuse(codes.NotFound, reasonNodeActionNotFound,
		fmt.Sprintf("cluster %q has no action %q", clip(cluster, maxMetadataValue), clip(id, maxMetadataValue)), map[string]string{"cluster": cluster, "id": id})
}

func nodeActionExists(cluster, id string) error {
	return refuse(codes.AlreadyExists, reasonNodeActionExists,
		fmt.Sprintf("cluster %q has an action %q already; ids are not used again", clip(cluster, maxMetadataValue), clip(id, maxMetadataValue)), map[string]string{"cluster": cluster, "id": id})
}

// nodeActionState says that the action's state does not allow the call.
func nodeActionState(id, state string) error {
	return stateRefused(reasonNodeActionState, "action", id, state)
}

func playbookNotFound(id string) error {
	return refuse(codes.NotFound, reasonPlaybookNotFound, fmt.Sprintf("no playbook %q", clip(id, maxMetadataValue)), map[string]string{"id": id})
}

func playbookExists(id string) error {
	return refuse(codes.AlreadyExists, reasonPlaybookExists,
		fmt.Sprintf("there is a playbook %q already; ids of playbooks are not used again", clip(id, maxMetadataValue)), map[string]string{"id": id})
}

// playbookState says that the playbook's state does not allow the call.
func playbookState(id, state string) error {
	return stateRefused(reasonPlaybookState, "playbook", id, state)
}

func stateRefused(reason, kind, id, state string) error {
	return refuse(codes.FailedPrecondition, reason,
		fmt.Sprintf("this call is refused while %s %q is %s", kind, clip(id, maxMetadataValue), state),
		map[string]string{"id": id, "state": state},
		&errdetails.PreconditionFailure{Violations: []*errdetails.PreconditionFailure_Violation{{
			Type: reason, Subject: id, Description: fmt.Sprintf("the %s's state is %s", kind, state),
		}}})
}
