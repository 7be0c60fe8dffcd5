package cli

import (
	"cmp"
	"context"
	"fmt"

	"github.com/spf13/cobra"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/playbook"
)

// playbookRunOptions are the flags of playbook run.
type playbookRunOptions struct {
	id, cluster, requestID string
	variables, labels      []string
	approve, validateOnly  bool
	watch                  bool
	by                     who
}

func playbookRunCommand(s *session) *cobra.Command {
	var o playbookRunOptions
	cmd := &cobra.Command{
		Use:     "run FILE",
		Aliases: []string{"create"},
		Short:   "Begin a playbook",
		Long: `Begin a playbook from a YAML or JSON file, '-' for stdin. Flags change what the file says.

It is validated as a whole: all problems are shown at once, and nothing begins. With
--watch the command follows it as 'gnomon playbook watch' does.`,
		Example: `  gnomon playbook run upgrade.yaml --watch
  gnomon playbook run upgrade.yaml --id upgrade-7 --var version=1.2.3
  gnomon playbook run upgrade.yaml --validate-only`,
		Args: exactly("file"),
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd, s, args[0]) },
	}
	flags := cmd.Flags()
	flags.StringVar(&o.id, "id", "", "the run's name (default: the file's)")
	flags.StringVar(&o.cluster, "cluster", "", "the cluster (default: the file's, else GNOMON_CLUSTER, else "+defaultCluster+")")
	flags.StringArrayVar(&o.variables, "var", nil, "variable NAME=VALUE, or NAME- to remove one (repeatable)")
	flags.StringArrayVar(&o.labels, "label", nil, "label KEY=VALUE, or KEY- to remove one (repeatable)")
	flags.BoolVar(&o.approve, "approve", false, "it waits until somebody approves it")
	flags.StringVar(&o.requestID, "request-id", "", "makes the call idempotent: the same id again gives the same playbook")
	flags.BoolVar(&o.validateOnly, "validate-only", false, "validate and begin nothing")
	flags.BoolVar(&o.watch, "watch", false, "follow it until it has ended")
	o.by.register(cmd, s, "who asks for it")
	return cmd
}

// playbook is what file and flags ask for.
func (o *playbookRunOptions) playbook(cmd *cobra.Command, s *session, file string) (*gnomonv1.Playbook, error) {
	if o.watch && o.validateOnly {
		return nil, usageErrorf("--watch and --validate-only exclude each other")
	}
	p, err := readPlaybook(cmd, file)
	if err != nil {
		return nil, err
	}
	if p.Id = cmp.Or(o.id, p.GetId()); p.GetId() == "" {
		return nil, usageErrorf("%s needs an id, in the file or by --id", cmd.CommandPath())
	}
	p.Cluster = cmp.Or(o.cluster, p.GetCluster(), s.env.getenv("GNOMON_CLUSTER"), defaultCluster)
	if p.Variables, err = changePairs("var", p.GetVariables(), o.variables); err != nil {
		return nil, err
	}
	if p.Labels, err = changePairs("label", p.GetLabels(), o.labels); err != nil {
		return nil, err
	}
	if cmd.Flags().Changed("approve") {
		p.Approve = o.approve
	}
	if cmd.Flags().Changed("by") || p.GetRequestedBy() == "" {
		p.RequestedBy = o.by.name
	}
	return p, nil
}

func (o *playbookRunOptions) run(cmd *cobra.Command, s *session, file string) error {
	p, err := o.playbook(cmd, s, file)
	if err != nil {
		return err
	}
	var reply *gnomonv1.Playbook
	if err := s.playbooks(cmd.Context(), func(ctx context.Context, client gnomonv1.PlaybookServiceClient) (err error) {
		reply, err = client.CreatePlaybook(ctx, &gnomonv1.CreatePlaybookRequest{Playbook: p, RequestId: o.requestID, ValidateOnly: o.validateOnly})
		return err
	}); err != nil {
		return err
	}
	word := "began"
	if o.validateOnly {
		word = "valid"
	}
	out := s.printer(cmd)
	if !o.watch || out.format == outputTable {
		if err := out.show(reply, func() string { return out.playbookResult(word, reply) }); err != nil {
			return err
		}
	}
	if !o.watch {
		return nil
	}
	return s.followPlaybook(cmd, reply.GetId())
}

func playbookValidateCommand(s *session) *cobra.Command {
	return &cobra.Command{
		Use:   "validate FILE...",
		Short: "Say all that is wrong with files of playbooks, without a server",
		Long: `Say all that is wrong with files of playbooks, by the rules of the API, without asking a
server. What only a cluster knows, such as its nodes, is not looked at.

The exit code is 0 if nothing is wrong and 1 otherwise.`,
		Example: `  gnomon playbook validate upgrade.yaml`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usageErrorf("%s takes at least one file", cmd.CommandPath())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, files []string) error { return validatePlaybooks(cmd, s, files) },
	}
}

func validatePlaybooks(cmd *cobra.Command, s *session, files []string) error {
	report := reportFor(cmd.Root())
	bad := 0
	for _, file := range files {
		p, err := readPlaybook(cmd, file)
		wrong := []error{err}
		if err == nil {
			wrong = violations(s, file, p)
		}
		for _, err := range wrong {
			report.write(err)
		}
		if len(wrong) > 0 {
			bad++
			continue
		}
		if _, err := fmt.Fprintf(cmd.OutOrStdout(), "valid %s: %s\n", visible(file), counted(len(p.GetStages()), "stage")); err != nil {
			return err
		}
	}
	if bad > 0 {
		return shownError{fmt.Sprintf("%d of %s not valid", bad, counted(len(files), "file"))}
	}
	return nil
}

// violations is all that the rules have against a playbook that is to be run.
func violations(s *session, file string, p *gnomonv1.Playbook) []error {
	p.Cluster = cmp.Or(p.GetCluster(), s.env.getenv("GNOMON_CLUSTER"), defaultCluster)
	if p.GetId() == "" {
		p.Id = "validated" // it may be given by --id
	}
	var all []error
	for _, v := range playbook.Validate(p) {
		all = append(all, subjectError{file, fmt.Errorf("%s: %s", v.Field, v.Description)})
	}
	return all
}
