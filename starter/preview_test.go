package starter

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// The contract of PreviewOccurrences: 0 is 10, absent after is now, only those at
// or after it, fewer where there are no more.
func TestPreview(t *testing.T) {
	t.Parallel()
	hourly := &gnomonv1.Spec{
		StartPolicy: &gnomonv1.StartPolicy{StartAt: timestamppb.New(noon.Add(-90 * time.Minute))},
		SendPolicy: &gnomonv1.SendPolicy{Policy: &gnomonv1.SendPolicy_SendPeriodicallyPolicy{
			SendPeriodicallyPolicy: &gnomonv1.SendPeriodicallyPolicy{Period: durationpb.New(time.Hour)},
		}},
	}
	for name, test := range map[string]struct {
		req   *gnomonv1.PreviewOccurrencesRequest
		count int
		first time.Time
	}{
		"default":  {&gnomonv1.PreviewOccurrencesRequest{}, 10, noon.Add(30 * time.Minute)},
		"greatest": {&gnomonv1.PreviewOccurrencesRequest{Count: 1000}, 1000, noon.Add(30 * time.Minute)},
		"after":    {&gnomonv1.PreviewOccurrencesRequest{Count: 2, After: timestamppb.New(noon.Add(90 * time.Minute))}, 2, noon.Add(90 * time.Minute)},
		"before the start": {
			&gnomonv1.PreviewOccurrencesRequest{Count: 1, After: timestamppb.New(noon.AddDate(-1, 0, 0))}, 1, noon.Add(-90 * time.Minute),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := preview(test.req, "a", hourly, noon)
			require.NoError(t, err)
			require.Len(t, got.GetOccurrences(), test.count)
			for k, due := range got.GetOccurrences() {
				require.Equal(t, test.first.Add(time.Duration(k)*time.Hour), due.AsTime())
			}
		})
	}
	once := &gnomonv1.Spec{
		StartPolicy: &gnomonv1.StartPolicy{StartAt: timestamppb.New(noon)},
		SendPolicy:  &gnomonv1.SendPolicy{Policy: &gnomonv1.SendPolicy_SendOncePolicy{SendOncePolicy: &gnomonv1.SendOncePolicy{}}},
	}
	got, err := preview(&gnomonv1.PreviewOccurrencesRequest{}, "a", once, noon)
	require.NoError(t, err)
	require.Len(t, got.GetOccurrences(), 1)
}
