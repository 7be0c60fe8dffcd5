package workflows

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
	"google.golang.org/protobuf/proto"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/playbook"
)

// handle makes a cluster's commands an update and its state queries (P-02). The update
// is validated by its handler, since signals that came before it may change the answer.
func (c *clusterRun) handle() error {
	err := workflow.SetUpdateHandler(c.ctx, workflowv1.CommandCluster, func(_ workflow.Context, command *workflowv1.ClusterCommand) (*workflowv1.ClusterResult, error) {
		c.drain()
		r, err := c.apply(command)
		if err != nil {
			return nil, clusterRefusal(err, c.state, command)
		}
		return r, nil
	})
	if err != nil {
		return err
	}
	err = workflow.SetQueryHandler(c.ctx, workflowv1.QueryCluster, func() (*gnomonv1.Cluster, error) {
		return playbook.Cluster(c.state), nil
	})
	if err != nil {
		return err
	}
	return workflow.SetQueryHandler(c.ctx, workflowv1.QueryNodeAction, func(id string) (*gnomonv1.NodeAction, error) {
		if r := playbook.Find(c.state, id); r != nil {
			return proto.CloneOf(r.GetAction()), nil
		}
		return nil, playbook.ErrNotFound
	})
}

// clusterRefusal is the error of a command that was refused, with a type that the facade
// maps to a status, and the state of the action it was about.
func clusterRefusal(err error, s *workflowv1.ClusterState, command *workflowv1.ClusterCommand) error {
	kind := workflowv1.RefusedMalformed
	for _, r := range clusterRefusals {
		if errors.Is(err, r.err) {
			kind = r.name
			break
		}
	}
	for _, d := range []*workflowv1.ClusterCommand_Decision{command.GetApprove(), command.GetReject(), command.GetCancel()} {
		if r := playbook.Find(s, d.GetAction()); r != nil {
			return temporal.NewNonRetryableApplicationError(err.Error(), kind, nil, r.GetAction().GetState().String())
		}
	}
	return temporal.NewNonRetryableApplicationError(err.Error(), kind, nil)
}

var clusterRefusals = []struct {
	err  error
	name string
}{
	{playbook.ErrNoNode, workflowv1.RefusedNoNode},
	{playbook.ErrNotFound, workflowv1.RefusedNotFound},
	{playbook.ErrExists, workflowv1.RefusedExists},
	{playbook.ErrReused, workflowv1.RefusedReused},
	{playbook.ErrNotPending, workflowv1.RefusedNotPending},
	{playbook.ErrFinished, workflowv1.RefusedFinished},
	{playbook.ErrUnfinished, workflowv1.RefusedUnfinished},
	{playbook.ErrFull, workflowv1.RefusedFull},
}

// Limits of what a person reads in the Web UI.
const (
	maxNodesShown   = 50
	maxActionsShown = 50
)

// clusterDetails is the state as markdown, for the Web UI.
func clusterDetails(s *workflowv1.ClusterState) string {
	var b strings.Builder
	view := playbook.Cluster(s)
	fmt.Fprintf(&b, "**Cluster %s**: %d nodes, %d unfinished actions", view.GetId(), len(view.GetNodes()), view.GetUnfinishedActions())
	if c := view.GetLastCycle(); c != nil {
		fmt.Fprintf(&b, "; cycle %d at %s: %d visited, %d pushed, %d changed, %d errors",
			c.GetNumber(), c.GetStartTime().AsTime().Format(time.RFC3339), c.GetVisited(), c.GetPushed(), c.GetChanged(), len(c.GetErrors()))
	}
	b.WriteString("\n\n| node | health | unfinished | last seen |\n|---|---|---|---|\n")
	for i, n := range view.GetNodes() {
		if i == maxNodesShown {
			fmt.Fprintf(&b, "| %d more | | | |\n", len(view.GetNodes())-i)
			break
		}
		seen := ""
		if n.GetLastSeen() != nil {
			seen = n.GetLastSeen().AsTime().Format(time.RFC3339)
		}
		fmt.Fprintf(&b, "| %s | %s %s | %d | %s |\n", n.GetName(), n.GetHealth(), cell(n.GetReason()), n.GetUnfinishedActions(), seen)
	}
	if len(s.GetUnfinished()) == 0 {
		return b.String()
	}
	b.WriteString("\n| action | node | state | playbook |\n|---|---|---|---|\n")
	for i, r := range s.GetUnfinished() {
		if i == maxActionsShown {
			fmt.Fprintf(&b, "| %d more | | | |\n", len(s.GetUnfinished())-i)
			break
		}
		a := r.GetAction()
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", a.GetId(), a.GetNode(), a.GetState(), a.GetPlaybook())
	}
	return b.String()
}

// cell makes a text fit for one cell of a table.
func cell(text string) string {
	return strings.NewReplacer("|", "\\|", "\n", " ", "\r", " ").Replace(text)
}
