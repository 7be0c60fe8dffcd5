package cli

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/types/known/durationpb"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// nodeRunOptions are the flags of node run.
type nodeRunOptions struct {
	id, directory, requestID string
	environment, labels      []string
	limit                    time.Duration
	outputLimit              uint32
	approve, validateOnly    bool
	wait                     bool
	by                       who
	http                     httpFlags
}

func nodeRunCommand(n *nodes) *cobra.Command {
	var o nodeRunOptions
	cmd := &cobra.Command{
		Use:   "run NODE [flags] -- PROGRAM [ARGUMENT...]",
		Short: "Have a node run a program or make an HTTP request",
		Long: `Have a node run a program, which stands behind '--' with its arguments, or make an HTTP
request by --url and its flags. The node's agent runs it when its turn comes, if its own
allow-list permits it; no shell is involved.

With --wait the command follows the action as 'gnomon node watch' does.`,
		Example: `  gnomon node run node-1 --wait -- uptime
  gnomon node run node-1 --id restart-7 --approve -- systemctl restart web.service
  gnomon node run node-2 --url http://127.0.0.1:8080/flush --method POST`,
		Args:              o.arguments,
		ValidArgsFunction: completeNodes(n),
		RunE:              func(cmd *cobra.Command, args []string) error { return o.run(cmd, n, args[0], args[1:]) },
	}
	flags := cmd.Flags()
	flags.StringVar(&o.id, "id", "", "the action's id in the cluster (default: one is made)")
	flags.BoolVar(&o.approve, "approve", false, "it waits until somebody approves it")
	flags.StringArrayVar(&o.environment, "env", nil, "variable NAME=VALUE of the program (repeatable)")
	flags.StringVar(&o.directory, "directory", "", "absolute path that the program runs in (default: the agent's choice)")
	flags.DurationVar(&o.limit, "action-timeout", 0, "how long it may take (default 10m for a program, 10s for a request)")
	flags.Uint32Var(&o.outputLimit, "output-limit", 0, "how many bytes of the end of the program's output are kept (default 4096)")
	flags.StringArrayVar(&o.labels, "label", nil, "label KEY=VALUE (repeatable)")
	flags.StringVar(&o.requestID, "request-id", "", "makes the call idempotent: the same id again gives the same action")
	flags.BoolVar(&o.validateOnly, "validate-only", false, "validate and record nothing")
	flags.BoolVar(&o.wait, "wait", false, "follow it until it has ended")
	o.by.register(cmd, n.session, "who asks for it")
	o.http.register(cmd)
	// Whether to try again is not asked on a node: a request is made once.
	if err := flags.MarkHidden("give-up-on-client-error"); err != nil {
		panic(err)
	}
	return cmd
}

func (o *nodeRunOptions) arguments(cmd *cobra.Command, args []string) error {
	before := cmd.ArgsLenAtDash()
	if before < 0 {
		before = len(args)
	}
	program := len(args) > before
	request := slices.ContainsFunc(httpFlagNames, cmd.Flags().Changed)
	switch {
	case before == 1 && program != request:
	case before > 1:
		return usageErrorf("%s takes one node; the program stands behind '--'", cmd.CommandPath())
	case before == 0:
		return usageErrorf("%s takes a node before '--'", cmd.CommandPath())
	default:
		return usageErrorf("%s takes either '-- PROGRAM' or --url with its flags", cmd.CommandPath())
	}
	for _, flag := range []string{"env", "directory", "output-limit"} {
		if request && cmd.Flags().Changed(flag) {
			return usageErrorf("--%s is for programs", flag)
		}
	}
	if o.wait && o.validateOnly {
		return usageErrorf("--wait and --validate-only exclude each other")
	}
	return nil
}

// action is what the flags ask for.
func (o *nodeRunOptions) action(cmd *cobra.Command, n *nodes, node string, argv []string) (*gnomonv1.NodeAction, error) {
	a := &gnomonv1.NodeAction{Id: o.id, Cluster: n.cluster, Node: node, Approve: o.approve, RequestedBy: o.by.name}
	var err error
	if a.Labels, err = changePairs("label", nil, o.labels); err != nil {
		return nil, err
	}
	var limit *durationpb.Duration
	if cmd.Flags().Changed("action-timeout") {
		limit = durationpb.New(o.limit)
	}
	if len(argv) == 0 {
		made := &gnomonv1.Action{}
		if err := o.http.apply(cmd, made); err != nil {
			return nil, err
		}
		request := made.GetHttpRequest()
		request.Timeout = limit
		a.Action = &gnomonv1.NodeAction_HttpRequest{HttpRequest: request}
		return a, nil
	}
	exec := &gnomonv1.ExecAction{Argv: argv, WorkingDirectory: o.directory, Timeout: limit, OutputLimit: o.outputLimit}
	for _, pair := range o.environment {
		name, value, ok := strings.Cut(pair, "=")
		if !ok || name == "" {
			return nil, usageErrorf("--env %q must be NAME=VALUE", pair)
		}
		if exec.Environment == nil {
			exec.Environment = map[string]string{}
		}
		exec.Environment[name] = value
	}
	a.Action = &gnomonv1.NodeAction_Exec{Exec: exec}
	return a, nil
}

func (o *nodeRunOptions) run(cmd *cobra.Command, n *nodes, node string, argv []string) error {
	a, err := o.action(cmd, n, node, argv)
	if err != nil {
		return err
	}
	client, closeClient, err := n.clusters()
	if err != nil {
		return err
	}
	defer closeClient()
	reply, err := o.schedule(cmd.Context(), n, client, a)
	if err != nil {
		return err
	}
	word := "scheduled"
	if o.validateOnly {
		word = "valid"
	}
	p := n.printer(cmd)
	if !o.wait || p.format == outputTable {
		if err := p.show(reply, func() string { return p.nodeResult(word, reply) }); err != nil {
			return err
		}
	}
	if !o.wait {
		return nil
	}
	return n.follow(cmd, client, reply.GetId())
}

func (o *nodeRunOptions) schedule(ctx context.Context, n *nodes, client gnomonv1.ClusterServiceClient, a *gnomonv1.NodeAction) (*gnomonv1.NodeAction, error) {
	ctx, cancel := n.call(ctx)
	defer cancel()
	return client.ScheduleNodeAction(ctx, &gnomonv1.ScheduleNodeActionRequest{
		Cluster: n.cluster, Action: a, RequestId: o.requestID, ValidateOnly: o.validateOnly,
	})
}
