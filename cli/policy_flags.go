package cli

import (
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// policyFlags say how often, and until when.
type policyFlags struct {
	once       bool
	every      time.Duration
	cron       string
	timeZone   string
	deadline   string
	deadlineIn time.Duration
}

var policyFlagNames = []string{"once", "every", "cron", "time-zone", "deadline", "deadline-in"}

func (f *policyFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.BoolVar(&f.once, "once", false, "perform until the first success (the default of a new action)")
	flags.DurationVar(&f.every, "every", 0, "perform at this distance, at least 1s")
	flags.StringVar(&f.cron, "cron", "", "perform by the calendar: minute, hour, day, month, day of week, or @daily")
	flags.StringVar(&f.timeZone, "time-zone", "", "time zone of --cron, such as Europe/Amsterdam (default UTC)")
	flags.StringVar(&f.deadline, "deadline", "", "no attempt begins after this time, RFC 3339; 'none' removes it")
	flags.DurationVar(&f.deadlineIn, "deadline-in", 0, "no attempt begins later than this from now")
}

func (f *policyFlags) apply(cmd *cobra.Command, policy *gnomonv1.SendPolicy, now time.Time) error {
	if err := exclusive(cmd, "once", "every", "cron"); err != nil {
		return err
	}
	if err := exclusive(cmd, "deadline", "deadline-in"); err != nil {
		return err
	}
	flags := cmd.Flags()
	retry := retryPolicy(policy)
	switch {
	case flags.Changed("every"):
		policy.Policy = &gnomonv1.SendPolicy_SendPeriodicallyPolicy{SendPeriodicallyPolicy: &gnomonv1.SendPeriodicallyPolicy{
			Period: durationpb.New(f.every), RetryPolicy: retry,
		}}
	case flags.Changed("cron"):
		calendar := &gnomonv1.SendByCalendarPolicy{Cron: f.cron, RetryPolicy: retry}
		calendar.TimeZone = policy.GetSendByCalendarPolicy().GetTimeZone()
		policy.Policy = &gnomonv1.SendPolicy_SendByCalendarPolicy{SendByCalendarPolicy: calendar}
	case f.once || policy.Policy == nil:
		policy.Policy = &gnomonv1.SendPolicy_SendOncePolicy{SendOncePolicy: &gnomonv1.SendOncePolicy{RetryPolicy: retry}}
	}
	if flags.Changed("time-zone") {
		calendar := policy.GetSendByCalendarPolicy()
		if calendar == nil {
			return usageErrorf("--time-zone needs --cron")
		}
		calendar.TimeZone = f.timeZone
	}
	return f.applyDeadline(cmd, policy, now)
}

func (f *policyFlags) applyDeadline(cmd *cobra.Command, policy *gnomonv1.SendPolicy, now time.Time) error {
	switch {
	case cmd.Flags().Changed("deadline-in"):
		policy.Deadline = timestamppb.New(now.Add(f.deadlineIn))
	case cmd.Flags().Changed("deadline") && f.deadline == "none":
		policy.Deadline = nil
	case cmd.Flags().Changed("deadline"):
		deadline, err := parseTime("deadline", f.deadline)
		if err != nil {
			return err
		}
		policy.Deadline = deadline
	}
	return nil
}
