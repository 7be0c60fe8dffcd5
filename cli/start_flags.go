package cli

import (
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// startFlags say when to begin.
type startFlags struct {
	at     string
	in     time.Duration
	jitter time.Duration
}

var startFlagNames = []string{"at", "in", "jitter"}

func (f *startFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.at, "at", "", "first run, RFC 3339 such as 2026-11-21T10:00:00Z")
	flags.DurationVar(&f.in, "in", 0, "first run this long from now, such as 5s")
	flags.DurationVar(&f.jitter, "jitter", 0, "spread due times by up to this much, at most 24h")
}

func (f *startFlags) apply(cmd *cobra.Command, spec *gnomonv1.Spec, now time.Time) error {
	if err := exclusive(cmd, "at", "in"); err != nil {
		return err
	}
	if spec.GetStartPolicy() == nil {
		spec.StartPolicy = &gnomonv1.StartPolicy{}
	}
	switch {
	case cmd.Flags().Changed("at"):
		at, err := parseTime("at", f.at)
		if err != nil {
			return err
		}
		spec.StartPolicy.StartAt = at
	case cmd.Flags().Changed("in"):
		spec.StartPolicy.StartAt = timestamppb.New(now.Add(f.in))
	}
	if cmd.Flags().Changed("jitter") {
		spec.StartPolicy.Jitter = durationpb.New(f.jitter)
	}
	return nil
}

// startNow fills in the start where nobody said one.
func startNow(spec *gnomonv1.Spec, now time.Time) {
	if spec.GetStartPolicy().GetStartAt() != nil {
		return
	}
	if spec.GetStartPolicy() == nil {
		spec.StartPolicy = &gnomonv1.StartPolicy{}
	}
	spec.StartPolicy.StartAt = timestamppb.New(now)
}

func parseTime(flag, value string) (*timestamppb.Timestamp, error) {
	at, err := time.Parse(time.RFC3339Nano, value)
	if err != nil {
		return nil, usageErrorf("--%s %q must be a time in RFC 3339, such as 2026-11-21T10:00:00Z", flag, value)
	}
	return timestamppb.New(at), nil
}
