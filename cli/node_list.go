package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/playbook"
)

func nodeListCommand(n *nodes) *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the nodes of a cluster, and what its last cycle met with",
		Long: `List the nodes of a cluster as the last cycle that visited them saw them, and what the
cluster's last cycle met with. Nothing is pushed to a node that is not UP.`,
		Example: `  gnomon node list
  gnomon node list --cluster prod -o json`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return n.within(cmd.Context(), func(ctx context.Context, client gnomonv1.ClusterServiceClient) error {
				c, err := client.GetCluster(ctx, &gnomonv1.GetClusterRequest{Cluster: n.cluster})
				if err != nil {
					return err
				}
				p := n.printer(cmd)
				return p.show(c, func() string { return p.clusterPage(c) })
			})
		},
	}
}

func healthName(h gnomonv1.Node_Health) string {
	if h == gnomonv1.Node_HEALTH_UNSPECIFIED {
		return "-"
	}
	return h.String()
}

// clusterPage is the nodes of a cluster and its last cycle.
func (p *printer) clusterPage(c *gnomonv1.Cluster) string {
	text := "no nodes"
	if len(c.GetNodes()) > 0 {
		rows := make([][]string, len(c.GetNodes()))
		for i, node := range c.GetNodes() {
			seen := ""
			if node.GetLastSeen() != nil {
				seen = p.moment.relative(node.GetLastSeen().AsTime())
			}
			rows[i] = []string{
				visible(node.GetName()), p.style.health(node.GetHealth()), fmt.Sprint(node.GetUnfinishedActions()),
				seen, visible(labels(node.GetLabels())), visible(shortened(node.GetReason(), 80)),
			}
		}
		text = renderTable(p.style, p.width, []string{"NODE", "HEALTH", "UNFINISHED", "SEEN", "LABELS", "REASON"}, rows)
	}
	cycle := c.GetLastCycle()
	if cycle == nil {
		return text
	}
	text += "\n" + fit(fmt.Sprintf("cycle %d, %s, took %s: %d visited, %d pushed, %d changed, %d errors", cycle.GetNumber(),
		p.moment.relative(cycle.GetStartTime().AsTime()), cycle.GetDuration().AsDuration(),
		cycle.GetVisited(), cycle.GetPushed(), cycle.GetChanged(), len(cycle.GetErrors())), p.width)
	for _, e := range cycle.GetErrors() {
		text += "\n" + fit("  "+visible(e.GetNode()+": "+e.GetMessage()), p.width)
	}
	return text
}

// labels are labels in one word.
func labels(all map[string]string) string {
	pairs := make([]string, 0, len(all))
	for _, key := range slices.Sorted(maps.Keys(all)) {
		pairs = append(pairs, key+"="+all[key])
	}
	return strings.Join(pairs, ",")
}

// actionListOptions are the flags of node actions.
type actionListOptions struct {
	listing

	node, playbook string
	states         []string
}

func nodeActionsCommand(n *nodes) *cobra.Command {
	var o actionListOptions
	cmd := &cobra.Command{
		Use:   "actions",
		Short: "List the actions of a cluster, the first that was asked for first",
		Long: `List the actions of a cluster, those that have ended too, by the time of their creation,
which is the order in which a node runs them.

One page is listed unless --limit asks for more.`,
		Example: `  gnomon node actions --unfinished
  gnomon node actions --node node-1 --state FAILED,LOST --limit 500
  gnomon node actions --playbook upgrade-7 -o json`,
		Args: noArgs,
	}
	var unfinished bool
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return o.run(cmd, n, unfinished) }
	flags := cmd.Flags()
	flags.StringVar(&o.node, "node", "", "only those of this node")
	flags.StringVar(&o.playbook, "playbook", "", "only those of this playbook")
	flags.StringSliceVar(&o.states, "state", nil, "only those in these states, such as NEW,RUNNING")
	flags.BoolVar(&unfinished, "unfinished", false, "only those that have not ended")
	o.register(cmd, "actions")
	mustComplete(cmd.RegisterFlagCompletionFunc("state", cobra.FixedCompletions(stateNames(gnomonv1.NodeAction_State_name), cobra.ShellCompDirectiveNoFileComp)))
	return cmd
}

func (o *actionListOptions) run(cmd *cobra.Command, n *nodes, unfinished bool) error {
	if err := o.check(); err != nil {
		return err
	}
	if err := exclusive(cmd, "state", "unfinished"); err != nil {
		return err
	}
	states, err := parseStates[gnomonv1.NodeAction_State](o.states, gnomonv1.NodeAction_State_value)
	if err != nil {
		return err
	}
	if unfinished {
		states = unfinishedStates
	}
	client, closeClient, err := n.clusters()
	if err != nil {
		return err
	}
	defer closeClient()
	all := &gnomonv1.ListNodeActionsResponse{}
	all.NextPageToken, err = pages(o.size, o.token, o.limit, func(size int32, token string) (int, string, error) {
		ctx, cancel := n.call(cmd.Context())
		defer cancel()
		reply, err := client.ListNodeActions(ctx, &gnomonv1.ListNodeActionsRequest{
			Cluster: n.cluster, PageSize: size, PageToken: token, Node: o.node, States: states, Playbook: o.playbook,
		})
		all.Actions = append(all.Actions, reply.GetActions()...)
		return len(reply.GetActions()), reply.GetNextPageToken(), err
	})
	if err != nil {
		return err
	}
	p := n.printer(cmd)
	if err := p.show(all, func() string { return p.nodeActions(all.GetActions()) }); err != nil {
		return err
	}
	p.more(all.GetNextPageToken())
	return nil
}

// stateNames are the names of an enum's values but the one that is never used.
func stateNames(names map[int32]string) []string {
	var all []string
	for _, number := range slices.Sorted(maps.Keys(names)) {
		if number > 0 {
			all = append(all, names[number])
		}
	}
	return all
}

// parseStates reads the values of --state.
func parseStates[E ~int32](values []string, known map[string]int32) ([]E, error) {
	var all []E
	for _, value := range values {
		number := known[strings.ToUpper(strings.TrimSpace(value))]
		if number == 0 {
			return nil, usageErrorf("--state %q is no state", value)
		}
		all = append(all, E(number))
	}
	return all, nil
}

// nodeActions is the table of a list.
func (p *printer) nodeActions(actions []*gnomonv1.NodeAction) string {
	if len(actions) == 0 {
		return "no actions"
	}
	rows := make([][]string, len(actions))
	for i, a := range actions {
		when := "created " + p.moment.relative(a.GetCreateTime().AsTime())
		switch {
		case playbook.Finished(a.GetState()) && a.GetFinishTime() != nil:
			when = "ended " + p.moment.relative(a.GetFinishTime().AsTime())
		case a.GetState() == gnomonv1.NodeAction_RUNNING && a.GetStartTime() != nil:
			when = "began " + p.moment.relative(a.GetStartTime().AsTime())
		}
		rows[i] = []string{
			visible(a.GetId()), visible(a.GetNode()), p.style.nodeState(a.GetState(), a.GetState().String()), when,
			visible(shortened(workOf(a), 60)), visible(shortened(a.GetReason(), 80)),
		}
	}
	return renderTable(p.style, p.width, []string{"ID", "NODE", "STATE", "WHEN", "ACTION", "REASON"}, rows)
}
