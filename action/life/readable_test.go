package life_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/timestamppb"

	"gnomon/action/life"
	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
)

// P-04: the details of each state, as a person sees them in the Web UI.
func TestDetails(t *testing.T) {
	t.Parallel()
	head := "| Status | |\n|---|---|\n" +
		"| Action | mock: succeed |\n" +
		"| Schedule | once, 2026-11-21 10:00:00 UTC |\n"
	s := state(once(t1(9)))
	require.Equal(t, head+
		"| State | SCHEDULED |\n"+
		"| Next run | 2026-11-21 10:00:00 UTC |\n"+
		"| Succeeded / failed / interrupted | 0 / 0 / 0 |\n"+
		"| Failures in a row | 0 |\n"+
		"| Guid | guid-1 |\n", life.Details(s))

	in := life.Begin(s, start)
	require.Equal(t, head+
		"| State | RUNNING |\n"+
		"| Occurrence | 2026-11-21 10:00:00 UTC |\n"+
		"| Succeeded / failed / interrupted, before this occurrence | 0 / 0 / 0 |\n"+
		"| Failures in a row, before this occurrence | 0 |\n"+
		"| Guid | guid-1 |\n"+
		"\nAttempts are under way: see the pending activity for their number and last failure.\n", life.Details(s))

	life.Interrupt(s, in, nil, start, start.Add(1500*time.Millisecond), "the worker was lost | or\nso")
	require.Equal(t, head+
		"| State | RETRYING |\n"+
		"| Next run | 2026-11-21 10:00:02 UTC |\n"+
		"| Occurrence | 2026-11-21 10:00:00 UTC |\n"+
		"| Succeeded / failed / interrupted | 0 / 0 / 1 |\n"+
		"| Failures in a row | 1 |\n"+
		"| Last attempt | 2026-11-21 10:00:01.5 UTC INTERRUPTED the worker was lost \\| or so |\n"+
		"| Guid | guid-1 |\n", life.Details(s))

	_, err := life.Apply(s, workflowv1.CommandPause, &workflowv1.Command{}, start, "")
	require.NoError(t, err)
	require.Contains(t, life.Details(s), "| State | PAUSED |\n")

	life.Malformed(s, "explode", life.ErrMalformed, start)
	require.Contains(t, life.Details(s), "| CommandsAccepted | FALSE signal \"explode\" dropped: malformed command |\n")

	_, err = life.Apply(s, workflowv1.CommandCancel, &workflowv1.Command{}, start, "")
	require.NoError(t, err)
	require.Contains(t, life.Details(s), "| State | DELETED |\n")
	require.NotContains(t, life.Details(s), "Next run")
}

// P-04: what does not change is said once, at the start, without payload or header.
func TestStaticDetails(t *testing.T) {
	t.Parallel()
	byCalendar := spec(&gnomonv1.SendPolicy{
		Policy: &gnomonv1.SendPolicy_SendByCalendarPolicy{SendByCalendarPolicy: &gnomonv1.SendByCalendarPolicy{Cron: "0 9 * * *", TimeZone: "Europe/Amsterdam"}},
	})
	request := once(t1(3))
	request.Action = &gnomonv1.Action{Action: &gnomonv1.Action_HttpRequest{HttpRequest: &gnomonv1.HttpRequest{
		Url: "https://example.com/orders?token=secret", Headers: map[string]string{"Authorization": "secret"}, Body: []byte("secret"),
	}}}
	for name, c := range map[string]struct {
		spec *gnomonv1.Spec
		want string
	}{
		"once":     {once(nil), ""},
		"deadline": {until(once(nil), start.Add(time.Hour)), "once, 2026-11-21 10:00:00 UTC, until 2026-11-21 11:00:00 UTC"},
		"retries":  {once(t1(9)), "once, 2026-11-21 10:00:00 UTC. Retries: 9, 1s to 1m0s apart."},
		"periodic": {periodic(90*time.Second, nil), "first due 2026-11-21 10:00:00 UTC, then every 1m30s"},
		"calendar": {byCalendar, "from 2026-11-21 10:00:00 UTC, by the calendar `0 9 * * *` Europe/Amsterdam"},
		"secrets":  {request, "once, 2026-11-21 10:00:00 UTC. Retries: 3, 1s to 1m0s apart."},
	} {
		details := life.StaticDetails(wanted(c.spec, "guid-1"))
		require.Equal(t, c.want, details, name)
		summary := life.StaticSummary(wanted(c.spec, "guid-1"))
		require.NotEmpty(t, summary, name)
		require.NotContains(t, details, summary, name)
		require.NotContains(t, summary, "secret", name)
		require.NotContains(t, details, "secret", name)
	}
}

// A time that is not whole seconds shows its parts.
func TestDetailsOfATimeBetweenSeconds(t *testing.T) {
	t.Parallel()
	s := state(once(nil))
	s.Status.ScheduledAt = timestamppb.New(start.Add(1234 * time.Microsecond))
	require.Contains(t, life.Details(s), "| Next run | 2026-11-21 10:00:00.001 UTC |\n")
}
