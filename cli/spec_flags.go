package cli

import (
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/proto"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// specFlags are the flags that make or change a spec. Only flags that were given
// change anything, so the same ones serve create, update and preview.
type specFlags struct {
	start  startFlags
	policy policyFlags
	retry  retryFlags
	action actionFlags
}

func (f *specFlags) register(cmd *cobra.Command) {
	f.start.register(cmd)
	f.policy.register(cmd)
	f.retry.register(cmd)
	f.action.register(cmd)
}

// given says whether any of them was.
func (f *specFlags) given(cmd *cobra.Command) bool {
	return anyChanged(cmd, startFlagNames) || anyChanged(cmd, policyFlagNames) ||
		anyChanged(cmd, retryFlagNames) || f.action.given(cmd)
}

// apply changes spec as the flags say. Durations such as --in count from now.
func (f *specFlags) apply(cmd *cobra.Command, spec *gnomonv1.Spec, now time.Time) error {
	if err := f.start.apply(cmd, spec, now); err != nil {
		return err
	}
	if spec.GetSendPolicy() == nil {
		spec.SendPolicy = &gnomonv1.SendPolicy{}
	}
	if err := f.policy.apply(cmd, spec.GetSendPolicy(), now); err != nil {
		return err
	}
	if err := f.retry.apply(cmd, spec.GetSendPolicy()); err != nil {
		return err
	}
	return f.action.apply(cmd, spec)
}

// cloneSpec is a copy to be changed, empty for nil.
func cloneSpec(spec *gnomonv1.Spec) *gnomonv1.Spec {
	if spec == nil {
		return &gnomonv1.Spec{}
	}
	return proto.CloneOf(spec)
}

func anyChanged(cmd *cobra.Command, names []string) bool {
	for _, name := range names {
		if cmd.Flags().Changed(name) {
			return true
		}
	}
	return false
}
