package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	gnomonv1 "gnomon/api/gnomon/v1"
)

func nodeAddCommand(n *nodes) *cobra.Command {
	var pairs []string
	cmd := &cobra.Command{
		Use:   "add NODE",
		Short: "Make a node known, or replace its labels",
		Long: `Make a node known, or replace its labels. The cluster is made if there is none of its
name. An agent adds its own node, so this is for nodes whose agent is yet to come.`,
		Example:           `  gnomon node add node-4 --label role=db`,
		Args:              exactly("node"),
		ValidArgsFunction: completeNodes(n),
		RunE: func(cmd *cobra.Command, args []string) error {
			labels, err := changePairs("label", nil, pairs)
			if err != nil {
				return err
			}
			return n.within(cmd.Context(), func(ctx context.Context, client gnomonv1.ClusterServiceClient) error {
				node, err := client.RegisterNode(ctx, &gnomonv1.RegisterNodeRequest{Cluster: n.cluster, Node: &gnomonv1.Node{Name: args[0], Labels: labels}})
				if err != nil {
					return err
				}
				return n.printer(cmd).show(node, func() string { return "added " + visible(node.GetName()) + " to " + visible(n.cluster) })
			})
		},
	}
	cmd.Flags().StringArrayVar(&pairs, "label", nil, "label KEY=VALUE, by which playbooks choose it (repeatable)")
	return cmd
}

func nodeRemoveCommand(n *nodes) *cobra.Command {
	var force bool
	cmd := &cobra.Command{
		Use:   "remove NODE",
		Short: "Forget a node",
		Long: `Forget a node. FAILED_PRECONDITION while it has unfinished actions, unless --force: those
that its agent may have become LOST, the others CANCELLED. An agent that still runs adds
its node again.

Nothing is asked before.`,
		Example:           `  gnomon node remove node-4`,
		Args:              exactly("node"),
		ValidArgsFunction: completeNodes(n),
		RunE: func(cmd *cobra.Command, args []string) error {
			return n.within(cmd.Context(), func(ctx context.Context, client gnomonv1.ClusterServiceClient) error {
				reply, err := client.RemoveNode(ctx, &gnomonv1.RemoveNodeRequest{Cluster: n.cluster, Node: args[0], Force: force})
				if err != nil {
					return err
				}
				return n.printer(cmd).show(reply, func() string { return "removed " + visible(args[0]) + " from " + visible(n.cluster) })
			})
		},
	}
	cmd.Flags().BoolVar(&force, "force", false, "with its unfinished actions")
	return cmd
}

func nodeNudgeCommand(n *nodes) *cobra.Command {
	return &cobra.Command{
		Use:   "nudge",
		Short: "Begin a cycle that looks at every node",
		Long: `Begin a cycle that looks at every node and tells every playbook of the cluster again what
stands. It changes nothing where nothing is stuck.`,
		Example: `  gnomon node nudge --cluster prod`,
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return n.within(cmd.Context(), func(ctx context.Context, client gnomonv1.ClusterServiceClient) error {
				reply, err := client.NudgeCluster(ctx, &gnomonv1.NudgeClusterRequest{Cluster: n.cluster})
				if err != nil {
					return err
				}
				return n.printer(cmd).show(reply, func() string { return fmt.Sprintf("nudged %s: cycle %d", visible(n.cluster), reply.GetCycle()) })
			})
		},
	}
}

// nodeVerb is a command to one action.
type nodeVerb struct {
	command *cobra.Command
	// done is what has become of the action, in one word.
	done   string
	states []gnomonv1.NodeAction_State
	send   func(context.Context, gnomonv1.ClusterServiceClient, string) (*gnomonv1.NodeAction, error)
}

func (v nodeVerb) build(n *nodes) *cobra.Command {
	v.command.Args = exactly("action id")
	v.command.ValidArgsFunction = completeNodeActions(n, v.states...)
	v.command.RunE = func(cmd *cobra.Command, args []string) error {
		return n.within(cmd.Context(), func(ctx context.Context, client gnomonv1.ClusterServiceClient) error {
			a, err := v.send(ctx, client, args[0])
			if err != nil {
				return err
			}
			p := n.printer(cmd)
			return p.show(a, func() string { return p.nodeResult(v.done, a) })
		})
	}
	return v.command
}

func nodeApproveCommand(n *nodes) *cobra.Command {
	var by who
	cmd := nodeVerb{
		command: &cobra.Command{
			Use:     "approve ID",
			Short:   "Let an action go on that waits for an approval",
			Long:    "Let an action go on that waits for an approval. The next cycle gives it to its node.",
			Example: `  gnomon node approve restart-7`,
		},
		done: "approved", states: []gnomonv1.NodeAction_State{gnomonv1.NodeAction_PENDING_APPROVE},
		send: func(ctx context.Context, client gnomonv1.ClusterServiceClient, id string) (*gnomonv1.NodeAction, error) {
			return client.ApproveNodeAction(ctx, &gnomonv1.ApproveNodeActionRequest{Cluster: n.cluster, Id: id, DecidedBy: by.name})
		},
	}.build(n)
	by.register(cmd, n.session, "who approves")
	return cmd
}

func nodeRejectCommand(n *nodes) *cobra.Command {
	var by who
	var reason string
	cmd := nodeVerb{
		command: &cobra.Command{
			Use:     "reject ID",
			Short:   "Cancel an action that waits for an approval",
			Example: `  gnomon node reject restart-7 --reason 'not during the day'`,
		},
		done: "rejected", states: []gnomonv1.NodeAction_State{gnomonv1.NodeAction_PENDING_APPROVE},
		send: func(ctx context.Context, client gnomonv1.ClusterServiceClient, id string) (*gnomonv1.NodeAction, error) {
			return client.RejectNodeAction(ctx, &gnomonv1.RejectNodeActionRequest{Cluster: n.cluster, Id: id, DecidedBy: by.name, Reason: reason})
		},
	}.build(n)
	by.register(cmd, n.session, "who rejects")
	cmd.Flags().StringVar(&reason, "reason", "", "for people: why")
	return cmd
}

func nodeCancelCommand(n *nodes) *cobra.Command {
	var reason string
	cmd := nodeVerb{
		command: &cobra.Command{
			Use:   "cancel ID",
			Short: "Cancel an action that has not ended",
			Long: `Cancel an action that has not ended: at once where the agent cannot have it, else by the
next cycle, which tells the agent to stop it.

Nothing is asked before.`,
			Example: `  gnomon node cancel restart-7 --reason 'wrong node'`,
		},
		done: "cancelled", states: unfinishedStates,
		send: func(ctx context.Context, client gnomonv1.ClusterServiceClient, id string) (*gnomonv1.NodeAction, error) {
			return client.CancelNodeAction(ctx, &gnomonv1.CancelNodeActionRequest{Cluster: n.cluster, Id: id, Reason: reason})
		},
	}.build(n)
	cmd.Flags().StringVar(&reason, "reason", "", "for people: why")
	return cmd
}

// nodeResult is the reply to a command in one line.
func (p *printer) nodeResult(word string, a *gnomonv1.NodeAction) string {
	line := fmt.Sprintf("%s %s: %s on %s", word, visible(a.GetId()), p.style.nodeState(a.GetState(), a.GetState().String()), visible(a.GetNode()))
	if a.GetCancelRequested() {
		line += ", its agent is told by the next cycle"
	}
	return line
}
