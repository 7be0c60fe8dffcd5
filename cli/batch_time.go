package cli

import (
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// batchTime is the time of a batch by flags.
type batchTime struct {
	at string
	in time.Duration
}

func (f *batchTime) register(cmd *cobra.Command, what string) {
	flags := cmd.Flags()
	flags.StringVar(&f.at, "at", "", what+", RFC 3339 such as 2026-11-21T03:00:00Z")
	flags.DurationVar(&f.in, "in", 0, what+", this long from now, such as 5s")
}

// read is the time, nil where no flag names one.
func (f *batchTime) read(cmd *cobra.Command, now time.Time) (*timestamppb.Timestamp, error) {
	if err := exclusive(cmd, "at", "in"); err != nil {
		return nil, err
	}
	switch {
	case cmd.Flags().Changed("at"):
		return parseTime("at", f.at)
	case cmd.Flags().Changed("in"):
		return timestamppb.New(now.Add(f.in)), nil
	default:
		return nil, nil //nolint:nilnil // no time was named
	}
}
