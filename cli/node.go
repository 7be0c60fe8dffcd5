package cli

import (
	"cmp"
	"context"
	"strings"

	"github.com/spf13/cobra"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// defaultCluster is the cluster of gnomon-dev.
const defaultCluster = "local"

// nodes are the commands about one cluster.
type nodes struct {
	*session

	cluster string
}

func nodeCommand(s *session) *cobra.Command {
	n := &nodes{session: s}
	cmd := group("node", "Run things on the nodes of a cluster, one at a time on each")
	cmd.Example = `  gnomon node run node-1 --wait -- uptime
  gnomon node list --cluster prod`
	cmd.PersistentFlags().StringVar(&n.cluster, "cluster", cmp.Or(s.env.getenv("GNOMON_CLUSTER"), defaultCluster), "the cluster (env GNOMON_CLUSTER)")
	cmd.AddCommand(
		nodeAddCommand(n), nodeRemoveCommand(n), nodeListCommand(n), nodeNudgeCommand(n),
		nodeRunCommand(n), nodeActionsCommand(n), nodeGetCommand(n), nodeWatchCommand(n),
		nodeApproveCommand(n), nodeRejectCommand(n), nodeCancelCommand(n),
	)
	return cmd
}

// clusters returns a client of clusters and what closes it, as connect does.
func (s *session) clusters() (gnomonv1.ClusterServiceClient, func(), error) {
	conn, closeConn, err := s.open()
	if err != nil {
		return nil, nil, err
	}
	return gnomonv1.NewClusterServiceClient(conn), closeConn, nil
}

// within makes one call with a client of its own.
func (n *nodes) within(ctx context.Context, call func(context.Context, gnomonv1.ClusterServiceClient) error) error {
	client, closeClient, err := n.clusters()
	if err != nil {
		return err
	}
	defer closeClient()
	ctx, cancel := n.call(ctx)
	defer cancel()
	return call(ctx, client)
}

// exactly takes one argument of a kind.
func exactly(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != 1 {
			return usageErrorf("%s takes exactly one %s, got %d", cmd.CommandPath(), what, len(args))
		}
		return nil
	}
}

// who is the flag --by: how the caller names himself.
type who struct{ name string }

func (w *who) register(cmd *cobra.Command, s *session, what string) {
	cmd.Flags().StringVar(&w.name, "by", s.env.getenv("USER"), what+" (env USER)")
}

// completeNodes offers the names of the cluster's nodes for the first argument.
func completeNodes(n *nodes) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		var found []cobra.Completion
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), completionTimeout)
		defer cancel()
		// A server that does not answer means no offers.
		_ = n.within(ctx, func(ctx context.Context, client gnomonv1.ClusterServiceClient) error {
			c, err := client.GetCluster(ctx, &gnomonv1.GetClusterRequest{Cluster: n.cluster})
			for _, node := range c.GetNodes() {
				if strings.HasPrefix(node.GetName(), typed) {
					found = append(found, cobra.CompletionWithDesc(node.GetName(), healthName(node.GetHealth())))
				}
			}
			return err
		})
		return found, cobra.ShellCompDirectiveNoFileComp
	}
}

// completeNodeActions offers the ids of actions in one of the states, or in any if none
// is named, for the first argument.
func completeNodeActions(n *nodes, states ...gnomonv1.NodeAction_State) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		var found []cobra.Completion
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), completionTimeout)
		defer cancel()
		_ = n.within(ctx, func(ctx context.Context, client gnomonv1.ClusterServiceClient) error {
			reply, err := client.ListNodeActions(ctx, &gnomonv1.ListNodeActionsRequest{Cluster: n.cluster, States: states, PageSize: maxPageSize})
			for _, a := range reply.GetActions() {
				if strings.HasPrefix(a.GetId(), typed) {
					found = append(found, cobra.CompletionWithDesc(a.GetId(), a.GetState().String()+" on "+a.GetNode()))
				}
			}
			return err
		})
		return found, cobra.ShellCompDirectiveNoFileComp
	}
}

// unfinishedStates are those in which an action can be cancelled.
var unfinishedStates = []gnomonv1.NodeAction_State{
	gnomonv1.NodeAction_PENDING_APPROVE, gnomonv1.NodeAction_PENDING_SCHEDULE, gnomonv1.NodeAction_NEW, gnomonv1.NodeAction_RUNNING,
}
