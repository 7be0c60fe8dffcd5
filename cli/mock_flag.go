package cli

import (
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// applyMock reads --mock: BEHAVIOUR or BEHAVIOUR=ARGUMENT.
func applyMock(value string, action *gnomonv1.Action) error {
	mock := &gnomonv1.MockAction{}
	behaviour, argument, hasArgument := strings.Cut(value, "=")
	switch {
	case value == "succeed":
		mock.Behaviour = &gnomonv1.MockAction_Succeed_{Succeed: &gnomonv1.MockAction_Succeed{}}
	case value == "panic":
		mock.Behaviour = &gnomonv1.MockAction_Panic_{Panic: &gnomonv1.MockAction_Panic{}}
	case value == "hang":
		mock.Behaviour = &gnomonv1.MockAction_Hang_{Hang: &gnomonv1.MockAction_Hang{}}
	case behaviour == "fail":
		mock.Behaviour = &gnomonv1.MockAction_Fail_{Fail: &gnomonv1.MockAction_Fail{Message: argument}}
	case behaviour == "fail-first" && hasArgument:
		n, err := strconv.ParseUint(argument, 10, 32)
		if err != nil {
			return usageErrorf("--mock %q: the number of attempts that fail must be 0 to 4294967295", value)
		}
		mock.Behaviour = &gnomonv1.MockAction_FailFirst_{FailFirst: &gnomonv1.MockAction_FailFirst{Attempts: uint32(n)}}
	case behaviour == "sleep" && hasArgument:
		d, err := time.ParseDuration(argument)
		if err != nil {
			return usageErrorf("--mock %q: the time to sleep must be a duration such as 2s", value)
		}
		mock.Behaviour = &gnomonv1.MockAction_Sleep_{Sleep: &gnomonv1.MockAction_Sleep{Duration: durationpb.New(d)}}
	default:
		return usageErrorf("--mock %q must be succeed, fail, fail=MESSAGE, fail-first=N, panic, hang or sleep=DURATION", value)
	}
	action.Action = &gnomonv1.Action_MockAction{MockAction: mock}
	return nil
}
