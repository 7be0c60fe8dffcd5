package cli

import (
	"context"

	"github.com/spf13/cobra"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/fieldmaskpb"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// updateOptions are the flags of update beside those of the spec.
type updateOptions struct {
	spec         specFlags
	file         string
	labels       []string
	etag         string
	requestID    string
	allowMissing bool
	validateOnly bool
}

func updateCommand(s *session) *cobra.Command {
	var o updateOptions
	cmd := &cobra.Command{
		Use:   "update [ID]",
		Short: "Change an action",
		Long: `Change an action: only what flags say, or all of it from a file.

A changed spec makes a new incarnation: counters and attempts start afresh, a
paused action stays paused. The start is kept unless --at or --in is given; where
it has passed, a periodic action goes on with its next tick. If the action was
changed by somebody else meanwhile, nothing happens and the call fails (ABORTED).`,
		Example: `  gnomon action update hello --url http://127.0.0.1:7790/other
  gnomon action update hello --in 1h --label team=a --label old-
  gnomon action update hello --max-retries 10 --deadline none
  gnomon action update --file action.yaml --allow-missing`,
		Args:              atMostOneID,
		ValidArgsFunction: completeIDs(s),
		RunE:              func(cmd *cobra.Command, args []string) error { return o.run(cmd, s, first(args)) },
	}
	o.spec.register(cmd)
	flags := cmd.Flags()
	flags.StringVarP(&o.file, "file", "f", "", "take the action from this YAML or JSON file, '-' for stdin")
	flags.StringArrayVar(&o.labels, "label", nil, "label KEY=VALUE, or KEY- to remove one (repeatable)")
	flags.StringVar(&o.etag, "etag", "", "the guid that must be the current one (default the one that was read)")
	flags.StringVar(&o.requestID, "request-id", "", "makes the call idempotent: the same id again gives the same reply")
	flags.BoolVar(&o.allowMissing, "allow-missing", false, "create the action where none is alive")
	flags.BoolVar(&o.validateOnly, "validate-only", false, "check, and change nothing")
	return cmd
}

func (o *updateOptions) run(cmd *cobra.Command, s *session, id string) error {
	switch {
	case id == "" && o.file == "":
		return usageErrorf("%s needs an action id, or --file", cmd.CommandPath())
	case o.file == "" && !o.spec.given(cmd) && len(o.labels) == 0:
		return usageErrorf("nothing to change: give --file or flags such as --url")
	}
	client, closeClient, err := s.connect()
	if err != nil {
		return err
	}
	defer closeClient()
	p := s.printer(cmd)
	request, err := o.request(cmd, s, client, p, id)
	if err != nil {
		return err
	}
	ctx, cancel := s.call(cmd.Context())
	defer cancel()
	reply, err := client.UpdateAction(ctx, request)
	if err != nil {
		return err
	}
	word := "updated"
	if o.validateOnly {
		word = "valid"
	}
	return p.result(word, reply)
}

func (o *updateOptions) request(cmd *cobra.Command, s *session, client gnomonv1.ActionServiceClient, p *printer, id string) (*gnomonv1.UpdateActionRequest, error) {
	request := &gnomonv1.UpdateActionRequest{
		Etag: o.etag, AllowMissing: o.allowMissing, RequestId: o.requestID, ValidateOnly: o.validateOnly,
	}
	base, err := o.base(cmd, s, client, id)
	if err != nil {
		return nil, err
	}
	request.Action = asked(base)
	if id != "" {
		request.Action.Meta.Id = id
	}
	if request.GetEtag() == "" && !finished(base.GetStatus().GetState()) {
		request.Etag = base.GetMeta().GetGuid()
	}
	now := s.env.now()
	if err := o.spec.apply(cmd, request.GetAction().GetSpec(), now); err != nil {
		return nil, err
	}
	labels, err := changePairs("label", request.GetAction().GetMeta().GetLabels(), o.labels)
	if err != nil {
		return nil, err
	}
	request.Action.Meta.Labels = labels
	if o.file == "" && o.spec.given(cmd) && !anyChanged(cmd, []string{"at", "in"}) && carryStart(request.GetAction().GetSpec(), now) {
		p.notef("the start has passed, the new spec starts at %s", utc(request.GetAction().GetSpec().GetStartPolicy().GetStartAt().AsTime()))
	}
	startNow(request.GetAction().GetSpec(), now)
	o.narrow(cmd, request, base)
	return request, nil
}

// base is what the flags change: the file, or the action as it stands. A file's
// status says nothing about the action as it stands.
func (o *updateOptions) base(cmd *cobra.Command, s *session, client gnomonv1.ActionServiceClient, id string) (*gnomonv1.ScheduledAction, error) {
	if o.file != "" {
		action, err := readOne(cmd, o.file)
		if err != nil {
			return nil, err
		}
		action.Status = nil
		return action, nil
	}
	action, err := getAction(cmd.Context(), s, client, &gnomonv1.GetActionRequest{Id: id})
	if o.allowMissing && status.Code(err) == codes.NotFound {
		return &gnomonv1.ScheduledAction{}, nil
	}
	return action, err
}

// narrow sends only the part that flags have changed, so that new labels leave the
// spec, and with it the counters, alone. A new action needs both.
func (o *updateOptions) narrow(cmd *cobra.Command, request *gnomonv1.UpdateActionRequest, base *gnomonv1.ScheduledAction) {
	if o.file != "" || base.GetSpec() == nil || finished(base.GetStatus().GetState()) {
		return
	}
	mask := &fieldmaskpb.FieldMask{}
	if o.spec.given(cmd) {
		mask.Paths = append(mask.Paths, "spec")
	} else {
		request.Action.Spec = nil
		request.AllowMissing = false // there is one, and labels alone could not create another
	}
	if len(o.labels) > 0 {
		mask.Paths = append(mask.Paths, "meta.labels")
	} else {
		request.Action.Meta.Labels = nil
	}
	request.UpdateMask = mask
}

func getAction(ctx context.Context, s *session, client gnomonv1.ActionServiceClient, request *gnomonv1.GetActionRequest) (*gnomonv1.ScheduledAction, error) {
	ctx, cancel := s.call(ctx)
	defer cancel()
	return client.GetAction(ctx, request)
}
