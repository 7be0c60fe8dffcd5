package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/playbook"
)

// playbookListOptions are the flags of playbook list.
type playbookListOptions struct {
	listing

	cluster string
	states  []string
}

func playbookListCommand(s *session) *cobra.Command {
	var o playbookListOptions
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List playbooks, the newest first",
		Long: `List playbooks, those that have ended too, the newest first.

One page is listed unless --limit asks for more.`,
		Example: `  gnomon playbook list
  gnomon playbook list --cluster prod --state RUNNING,PENDING_APPROVE -o json`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd, s) },
	}
	flags := cmd.Flags()
	flags.StringVar(&o.cluster, "cluster", "", "only those of this cluster")
	flags.StringSliceVar(&o.states, "state", nil, "only those in these states, such as RUNNING,FAILED")
	o.register(cmd, "playbooks")
	mustComplete(cmd.RegisterFlagCompletionFunc("state", cobra.FixedCompletions(stateNames(gnomonv1.PlaybookStatus_State_name), cobra.ShellCompDirectiveNoFileComp)))
	return cmd
}

func (o *playbookListOptions) run(cmd *cobra.Command, s *session) error {
	if err := o.check(); err != nil {
		return err
	}
	states, err := parseStates[gnomonv1.PlaybookStatus_State](o.states, gnomonv1.PlaybookStatus_State_value)
	if err != nil {
		return err
	}
	conn, closeConn, err := s.open()
	if err != nil {
		return err
	}
	defer closeConn()
	client := gnomonv1.NewPlaybookServiceClient(conn)
	all := &gnomonv1.ListPlaybooksResponse{}
	all.NextPageToken, err = pages(o.size, o.token, o.limit, func(size int32, token string) (int, string, error) {
		ctx, cancel := s.call(cmd.Context())
		defer cancel()
		reply, err := client.ListPlaybooks(ctx, &gnomonv1.ListPlaybooksRequest{PageSize: size, PageToken: token, Cluster: o.cluster, States: states})
		all.Playbooks = append(all.Playbooks, reply.GetPlaybooks()...)
		return len(reply.GetPlaybooks()), reply.GetNextPageToken(), err
	})
	if err != nil {
		return err
	}
	p := s.printer(cmd)
	if err := p.show(all, func() string { return p.playbooks(all.GetPlaybooks()) }); err != nil {
		return err
	}
	p.more(all.GetNextPageToken())
	return nil
}

// playbooks is the table of a list.
func (p *printer) playbooks(all []*gnomonv1.Playbook) string {
	if len(all) == 0 {
		return "no playbooks"
	}
	rows := make([][]string, len(all))
	for i, one := range all {
		st := one.GetStatus()
		when := "created " + p.moment.relative(one.GetCreateTime().AsTime())
		if playbook.Ended(st.GetState()) {
			when = "ended " + p.moment.relative(st.GetFinishTime().AsTime())
		}
		at, name := currentStage(st)
		rows[i] = []string{
			visible(one.GetId()), visible(one.GetCluster()), p.style.playbookState(st.GetState()), when,
			visible(fmt.Sprintf("%d/%d %s", at, len(st.GetStages()), name)), visible(shortened(st.GetReason(), 80)),
		}
	}
	return renderTable(p.style, p.width, []string{"ID", "CLUSTER", "STATE", "WHEN", "STAGE", "REASON"}, rows)
}

// currentStage is the number, from 1, and the name of the stage that a playbook has come
// to: the active one, else the last that began. 0 if none has.
func currentStage(st *gnomonv1.PlaybookStatus) (at int, name string) {
	for i, stage := range st.GetStages() {
		switch stage.GetState() {
		case gnomonv1.PlaybookStatus_ACTIVE, gnomonv1.PlaybookStatus_SUCCEEDED, gnomonv1.PlaybookStatus_UNSUCCESSFUL:
			at, name = i+1, stage.GetName()
		default:
		}
	}
	return at, name
}
