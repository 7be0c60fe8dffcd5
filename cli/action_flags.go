package cli

import (
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/types/known/durationpb"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// actionFlags say what to perform: an HTTP request, a push or a mock.
type actionFlags struct {
	http    httpFlags
	push    pushFlags
	mock    string
	timeout time.Duration
}

func (f *actionFlags) register(cmd *cobra.Command) {
	f.http.register(cmd)
	f.push.register(cmd)
	cmd.Flags().StringVar(&f.mock, "mock", "", "pretend: succeed, fail[=MESSAGE], fail-first=N, panic, hang or sleep=DURATION")
	cmd.Flags().DurationVar(&f.timeout, "action-timeout", 0, "time limit of one HTTP request or push (default 10s)")
}

func (f *actionFlags) given(cmd *cobra.Command) bool {
	return anyChanged(cmd, httpFlagNames) || anyChanged(cmd, pushFlagNames) ||
		anyChanged(cmd, []string{"mock", "action-timeout"})
}

func (f *actionFlags) apply(cmd *cobra.Command, spec *gnomonv1.Spec) error {
	if err := f.oneKind(cmd); err != nil {
		return err
	}
	if spec.GetAction() == nil && f.given(cmd) {
		spec.Action = &gnomonv1.Action{}
	}
	var err error
	switch {
	case anyChanged(cmd, httpFlagNames):
		err = f.http.apply(cmd, spec.GetAction())
	case anyChanged(cmd, pushFlagNames):
		err = f.push.apply(cmd, spec.GetAction())
	case cmd.Flags().Changed("mock"):
		err = applyMock(f.mock, spec.GetAction())
	}
	if err != nil || !cmd.Flags().Changed("action-timeout") {
		return err
	}
	switch a := spec.GetAction().GetAction().(type) {
	case *gnomonv1.Action_HttpRequest:
		a.HttpRequest.Timeout = durationpb.New(f.timeout)
	case *gnomonv1.Action_SendTechnicalPush:
		a.SendTechnicalPush.Timeout = durationpb.New(f.timeout)
	default:
		return usageErrorf("--action-timeout needs an HTTP request (--url) or a push (--push-recipient)")
	}
	return nil
}

// oneKind refuses flags of two kinds of action.
func (f *actionFlags) oneKind(cmd *cobra.Command) error {
	found := ""
	for _, names := range [][]string{httpFlagNames, pushFlagNames, {"mock"}} {
		for _, name := range names {
			if !cmd.Flags().Changed(name) {
				continue
			}
			if found != "" {
				return usageErrorf("--%s and --%s belong to different kinds of action, give flags of one", found, name)
			}
			found = name
			break
		}
	}
	return nil
}
