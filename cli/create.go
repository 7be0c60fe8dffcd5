package cli

import (
	"github.com/spf13/cobra"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// createOptions are the flags of create beside those of the spec.
type createOptions struct {
	spec         specFlags
	file         string
	labels       []string
	requestID    string
	validateOnly bool
}

func createCommand(s *session) *cobra.Command {
	var o createOptions
	cmd := &cobra.Command{
		Use:   "create [ID]",
		Short: "Schedule a new action",
		Long: `Schedule a new action, from flags or from a file.

Without --at or --in it is performed at once, without --every or --cron once, and
without a retry flag it is not retried. Flags beside --file change what the file
says. An action of the same id that is alive is an error.`,
		Example: `  gnomon action create hello --in 5s --url http://127.0.0.1:7790/hello --body '{"hello":"world"}'
  gnomon action create report --cron '30 9 * * MON-FRI' --time-zone Europe/Amsterdam --url http://127.0.0.1:7790/report
  gnomon action create flaky --url http://127.0.0.1:7790/flaky --max-retries 3 --min-delay 2s
  gnomon action create --file action.yaml`,
		Args: atMostOneID,
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd, s, first(args)) },
	}
	o.spec.register(cmd)
	flags := cmd.Flags()
	flags.StringVarP(&o.file, "file", "f", "", "take the action from this YAML or JSON file, '-' for stdin")
	flags.StringArrayVar(&o.labels, "label", nil, "label KEY=VALUE (repeatable)")
	flags.StringVar(&o.requestID, "request-id", "", "makes the call idempotent: the same id again gives the same reply")
	flags.BoolVar(&o.validateOnly, "validate-only", false, "check, and show what would be created")
	return cmd
}

func (o *createOptions) run(cmd *cobra.Command, s *session, id string) error {
	action, err := o.action(cmd, s, id)
	if err != nil {
		return err
	}
	client, closeClient, err := s.connect()
	if err != nil {
		return err
	}
	defer closeClient()
	ctx, cancel := s.call(cmd.Context())
	defer cancel()
	reply, err := client.CreateAction(ctx, &gnomonv1.CreateActionRequest{
		Action: action, RequestId: o.requestID, ValidateOnly: o.validateOnly,
	})
	if err != nil {
		return err
	}
	word := "created"
	if o.validateOnly {
		word = "valid"
	}
	return s.printer(cmd).result(word, reply)
}

// action is what the file and the flags ask for.
func (o *createOptions) action(cmd *cobra.Command, s *session, id string) (*gnomonv1.ScheduledAction, error) {
	action := &gnomonv1.ScheduledAction{}
	switch {
	case o.file != "":
		read, err := readOne(cmd, o.file)
		if err != nil {
			return nil, err
		}
		action = read
	case id == "":
		return nil, usageErrorf("%s needs an action id, or --file", cmd.CommandPath())
	}
	action = asked(action)
	if id != "" {
		action.Meta.Id = id
	}
	now := s.env.now()
	if err := o.spec.apply(cmd, action.GetSpec(), now); err != nil {
		return nil, err
	}
	startNow(action.GetSpec(), now)
	labels, err := changePairs("label", action.GetMeta().GetLabels(), o.labels)
	if err != nil {
		return nil, err
	}
	action.Meta.Labels = labels
	return action, nil
}

// asked is the part of an action that a caller decides: without guid, times and
// status, which a file made from a reply holds too. Meta and Spec are never nil.
func asked(action *gnomonv1.ScheduledAction) *gnomonv1.ScheduledAction {
	return &gnomonv1.ScheduledAction{
		Meta: &gnomonv1.Meta{Id: action.GetMeta().GetId(), Labels: action.GetMeta().GetLabels()},
		Spec: cloneSpec(action.GetSpec()),
	}
}
