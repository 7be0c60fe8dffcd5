package cli

import (
	"github.com/spf13/cobra"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// pushFlags make a SendTechnicalPush.
type pushFlags struct{ recipient, kind, payload string }

var pushFlagNames = []string{"push-recipient", "push-type", "push-payload"}

func (f *pushFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.recipient, "push-recipient", "", "send a technical push to this recipient")
	flags.StringVar(&f.kind, "push-type", "", "its type, in the receiver's terms")
	flags.StringVar(&f.payload, "push-payload", "", "its payload, as it is")
}

func (f *pushFlags) apply(cmd *cobra.Command, action *gnomonv1.Action) error {
	flags := cmd.Flags()
	push := action.GetSendTechnicalPush()
	if push == nil {
		if !flags.Changed("push-recipient") || !flags.Changed("push-type") {
			return usageErrorf("a push needs --push-recipient and --push-type")
		}
		push = &gnomonv1.SendTechnicalPush{}
		action.Action = &gnomonv1.Action_SendTechnicalPush{SendTechnicalPush: push}
	}
	if flags.Changed("push-recipient") {
		push.Recipient = f.recipient
	}
	if flags.Changed("push-type") {
		push.Type = f.kind
	}
	if flags.Changed("push-payload") {
		push.Payload = []byte(f.payload)
	}
	return nil
}
