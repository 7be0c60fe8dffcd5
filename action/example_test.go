package action_test

import (
	"fmt"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"gnomon/action"
	gnomonv1 "gnomon/api/gnomon/v1"
)

func ExampleDelay() {
	p := &gnomonv1.RetryPolicy{
		MaxRetries:           4,
		MinRestartPeriod:     durationpb.New(time.Second),
		MaxRestartPeriod:     durationpb.New(time.Minute),
		RestartPeriodScale:   durationpb.New(time.Second),
		RestartPeriodBackOff: 2,
	}
	for failures := range uint64(4) {
		fmt.Println(action.Delay(p, failures))
	}
	// Output:
	// 2s
	// 3s
	// 5s
	// 9s
}

func ExamplePreview() {
	weekdays := byCalendar(time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC), "30 9 * * mon-fri", "Europe/Amsterdam")
	for _, due := range action.Preview(weekdays, "report", time.Time{}, 3) {
		fmt.Println(due.Format(time.RFC3339))
	}
	// Output:
	// 2026-11-20T08:30:00Z
	// 2026-11-23T08:30:00Z
	// 2026-11-24T08:30:00Z
}

func ExampleValidate() {
	a := &gnomonv1.ScheduledAction{
		Meta: &gnomonv1.Meta{Id: "orders/17"},
		Spec: periodic(start, 500*time.Millisecond),
	}
	for _, v := range action.Validate(a, start, action.Options{}) {
		fmt.Println(v.Field, v.Rule)
		fmt.Println("  " + v.Description)
	}
	// Output:
	// meta.id INVALID_CHARACTER
	//   id may have ASCII letters, digits, '-', '_', '.', ':' and '~' only
	// spec.send_policy.send_periodically_policy.period OUT_OF_RANGE
	//   period must be from 1s to 100 years
}
