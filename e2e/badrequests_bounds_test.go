package e2e

import (
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/receiver"
	"gnomon/starter"
)

// atTheBound are faults that are none: each is the last value that is allowed.
var atTheBound = map[string]fault{
	"period of 1 s":     periodFault(func(p *gnomonv1.SendPeriodicallyPolicy) { p.Period = durationpb.New(time.Second) }),
	"period of a life":  periodFault(func(p *gnomonv1.SendPeriodicallyPolicy) { p.Period = durationpb.New(36525 * 24 * time.Hour) }),
	"minimum = maximum": retryFault(func(p *gnomonv1.RetryPolicy) { p.MinRestartPeriod = p.GetMaxRestartPeriod() }),
	"scale of a life":   retryFault(func(p *gnomonv1.RetryPolicy) { p.RestartPeriodScale = durationpb.New(36525 * 24 * time.Hour) }),
	"back off of 0":     retryFault(func(p *gnomonv1.RetryPolicy) { p.RestartPeriodBackOff = 0 }),
	"greatest back off": retryFault(func(p *gnomonv1.RetryPolicy) { p.RestartPeriodBackOff = math.MaxFloat64 }),
	"most retries":      retryFault(func(p *gnomonv1.RetryPolicy) { p.MaxRetries = math.MaxUint32 }),
	"no retries":        retryFault(func(p *gnomonv1.RetryPolicy) { p.MaxRetries = 0 }),
	"jitter of a day":   specFault(func(p *gnomonv1.Spec) { p.GetStartPolicy().Jitter = durationpb.New(24 * time.Hour) }),
	"jitter of nearly a period": func(a *gnomonv1.ScheduledAction) {
		every(a, time.Minute).GetSpec().GetStartPolicy().Jitter = durationpb.New(time.Minute - time.Microsecond)
	},
	"start in 9999":       specFault(func(p *gnomonv1.Spec) { p.GetStartPolicy().GetStartAt().Seconds = 253402300799 }),
	"deadline in 9999":    specFault(func(p *gnomonv1.Spec) { p.GetSendPolicy().Deadline = stamp(time.Unix(253402300799, 999999999)) }),
	"cron of 29 Feb":      calendarFault(func(p *gnomonv1.SendByCalendarPolicy) { p.Cron = "0 0 29 2 *" }),
	"cron of 512 bytes":   calendarFault(func(p *gnomonv1.SendByCalendarPolicy) { p.Cron = "*" + strings.Repeat(" ", 504) + "* * * *" }),
	"URL of 2048 bytes":   urlFault("http://example.org/" + strings.Repeat("x", 2029)),
	"header of 4 KiB":     headerFault("X-A", strings.Repeat("v", 4096)),
	"64 headers":          httpFault(func(r *gnomonv1.HttpRequest) { r.Headers = many(64, "v") }),
	"body of 128 KiB":     httpFault(func(r *gnomonv1.HttpRequest) { r.Body = make([]byte, 128<<10) }),
	"timeout of 10 min":   httpFault(func(r *gnomonv1.HttpRequest) { r.Timeout = durationpb.New(10 * time.Minute) }),
	"push of 64 KiB":      pushFault(func(p *gnomonv1.SendTechnicalPush) { p.Payload = make([]byte, 64<<10) }),
	"push to 256 bytes":   pushFault(func(p *gnomonv1.SendTechnicalPush) { p.Recipient = strings.Repeat("r", 256) }),
	"32 labels":           metaFault(func(m *gnomonv1.Meta) { m.Labels = many(32, strings.Repeat("v", 255)) }),
	"label of 63 bytes":   labelFault(strings.Repeat("k", 63), ""),
	"id of 200 bytes":     metaFault(func(m *gnomonv1.Meta) { m.Id += strings.Repeat("x", 200-len(m.GetId())) }),
	"id of all its signs": metaFault(func(m *gnomonv1.Meta) { m.Id += "-_.:~" }),
}

// The last allowed values are accepted over gRPC and REST, are kept as they are, and
// the workflow takes them.
func TestBoundsAreAccepted(t *testing.T) {
	t.Parallel()
	s := serveFacade(t, nil)
	for name, change := range atTheBound {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, way := range []string{"grpc", "rest"} {
				a := s.once(s.id(way+"-"+slug(name)), "/ok", time.Hour)
				change(a)
				req := &gnomonv1.CreateActionRequest{Action: a, RequestId: strings.Repeat("~", 128)}
				reply := &gnomonv1.ScheduledAction{}
				if way == "rest" {
					got := s.send(t, restOf(t, req))
					require.Equal(t, http.StatusOK, got.code, "%s", got.body)
					require.NoError(t, protojson.Unmarshal(got.body, reply))
				} else {
					var err error
					reply, err = s.calls.CreateAction(t.Context(), req)
					require.NoError(t, err)
				}
				get := &gnomonv1.GetActionRequest{Id: a.GetMeta().GetId(), Fresh: true}
				seen, err := s.calls.GetAction(t.Context(), get)
				require.NoError(t, err)
				require.True(t, proto.Equal(reply.GetSpec(), seen.GetSpec()), "%v\n%v", reply, seen)
				require.Nil(t, condition(seen, "Applied"), "no worker answered")
				require.Equal(t, a.GetMeta().GetLabels(), seen.GetMeta().GetLabels())
				require.Equal(t, gnomonv1.Status_SCHEDULED, seen.GetStatus().GetState())
				require.Equal(t, http.StatusOK, s.send(t, restOf(t, get)).code)
				s.obeys(t, a)
			}
		})
	}
	t.Cleanup(func() { require.Empty(t, s.logs.with("level=ERROR")) })
}

// obeys holds that the workflow of an action takes commands, and applies them itself.
func (s *served) obeys(t *testing.T, a *gnomonv1.ScheduledAction) {
	t.Helper()
	id := a.GetMeta().GetId()
	updated, err := s.calls.UpdateAction(t.Context(), &gnomonv1.UpdateActionRequest{Action: a})
	require.NoError(t, err)
	paused, err := s.calls.PauseAction(t.Context(), &gnomonv1.PauseActionRequest{Id: id})
	require.NoError(t, err)
	resumed, err := s.calls.ResumeAction(t.Context(), &gnomonv1.ResumeActionRequest{Id: id})
	require.NoError(t, err)
	seen, err := s.calls.GetAction(t.Context(), &gnomonv1.GetActionRequest{Id: id, Fresh: true})
	require.NoError(t, err)
	for _, reply := range []*gnomonv1.ScheduledAction{updated, paused, resumed, seen} {
		require.Nil(t, condition(reply, "Applied"), "no worker answered")
		require.True(t, proto.Equal(updated.GetSpec(), reply.GetSpec()), "%v", reply)
	}
	require.Equal(t, gnomonv1.Status_PAUSED, paused.GetStatus().GetState())
	require.Equal(t, gnomonv1.Status_SCHEDULED, seen.GetStatus().GetState())
}

// M-11: 10 minutes in the past is accepted, by create and by update, and means at
// once; a microsecond more is not.
func TestStartTenMinutesAgo(t *testing.T) {
	t.Parallel()
	now := time.Now().Truncate(time.Microsecond).Add(789)
	s := serveFacade(t, func(c *starter.Config) { c.Now = func() time.Time { return now } })
	bound := now.Truncate(time.Microsecond).Add(-10 * time.Minute)
	at := func(id, p string, start time.Time) *gnomonv1.ScheduledAction {
		a := s.once(id, p, 0)
		a.GetSpec().GetStartPolicy().StartAt = stamp(start)
		return a
	}
	const field = "spec.start_policy.start_at"
	for _, early := range []time.Time{bound.Add(-time.Microsecond), bound.Add(-1), bound.Add(-time.Hour)} {
		s.create("too early", field, "TOO_EARLY", func(a *gnomonv1.ScheduledAction) { a.GetSpec().GetStartPolicy().StartAt = stamp(early) }).run(t, s)
	}
	created, updated := s.id("created"), s.id("updated")
	s.installation.create(t, at(created, "/ok", bound))
	s.installation.create(t, s.once(updated, "/old", time.Hour))
	s.update(t, at(updated, "/new", bound))
	s.arrival(t, 20*time.Second, path(created, "/ok"))
	s.arrival(t, 20*time.Second, path(updated, "/new"))
	for _, id := range []string{created, updated} {
		require.Equal(t, gnomonv1.Status_SUCCEEDED, s.closed(t, id, 20*time.Second).GetState())
		require.Len(t, s.of(id), 1)
	}
	s.nothing(t, s.id("too-early"))
}

// M-16: a deadline before start_at is accepted, whatever the policy, and the action
// ends EXPIRED without an attempt: at once, or when the deadline comes.
func TestDeadlineBeforeStart(t *testing.T) {
	t.Parallel()
	s := serveFacade(t, nil)
	begun := time.Now()
	var ids []string
	for name, change := range map[string]fault{
		"once":     func(*gnomonv1.ScheduledAction) {},
		"retried":  retryFault(func(*gnomonv1.RetryPolicy) {}),
		"periodic": periodFault(func(*gnomonv1.SendPeriodicallyPolicy) {}),
		"calendar": calendarFault(func(*gnomonv1.SendByCalendarPolicy) {}),
	} {
		for when, deadline := range map[string]time.Time{"past": begun.Add(-time.Hour), "soon": begun.Add(2 * time.Second)} {
			a := s.once(s.id(name+"-"+when), "/ok", 4*time.Second)
			change(a)
			a.GetSpec().GetSendPolicy().Deadline = stamp(deadline)
			got := s.send(t, restOf(t, &gnomonv1.CreateActionRequest{Action: a}))
			require.Equal(t, http.StatusOK, got.code, "%s", got.body)
			ids = append(ids, a.GetMeta().GetId())
		}
	}
	for _, id := range slices.Sorted(slices.Values(ids)) {
		st := s.closed(t, id, 20*time.Second)
		require.Equal(t, gnomonv1.Status_EXPIRED, st.GetState(), id)
		require.Zero(t, st.GetSuccessfulAttemptsCounter()+st.GetFailedAttemptsCounter()+st.GetInterruptedAttemptsCounter(), id)
		require.Nil(t, st.GetLastAttemptStatus(), id)
		if strings.HasSuffix(id, "soon") {
			require.Greater(t, time.Since(begun), 2*time.Second, "it stays readable until its deadline (M-15)")
		}
		seen, err := s.calls.GetAction(t.Context(), &gnomonv1.GetActionRequest{Id: id})
		require.NoError(t, err)
		require.Equal(t, gnomonv1.Status_EXPIRED, seen.GetStatus().GetState(), id)
	}
	eventually(t, 10*time.Second, "their start would have come", func() bool { return time.Since(begun) > 5*time.Second })
	require.Empty(t, s.inbox.Arrivals())
}

// M-20, M-24, M-28: the least delays and the most retries do what they say.
func TestBoundsAreKept(t *testing.T) {
	t.Parallel()
	s := serveFacade(t, nil)
	retried, ticking := s.id("retried"), s.id("ticking")
	a := retrying(s.once(retried, "/fail-first/2", 0), math.MaxUint32)
	p := a.GetSpec().GetSendPolicy().GetSendOncePolicy().GetRetryPolicy()
	p.MaxRestartPeriod = durationpb.New(time.Second)
	s.installation.create(t, a)
	s.installation.create(t, every(s.once(ticking, "/ok", 0), time.Second))
	st := s.closed(t, retried, 30*time.Second)
	require.Equal(t, gnomonv1.Status_SUCCEEDED, st.GetState())
	require.EqualValues(t, 2, st.GetFailedAttemptsCounter())
	s.arrival(t, 20*time.Second, func(receiver.Arrival) bool { return len(s.of(ticking)) >= 4 })
	for id, want := range map[string]int{retried: 3, ticking: 4} {
		seen := s.of(id)
		require.GreaterOrEqual(t, len(seen), want)
		for k := range want - 1 {
			gap := seen[k+1].Time.Sub(seen[k].Time)
			require.Less(t, gap, 1500*time.Millisecond, "%s %d is late", id, k)
			require.Greater(t, gap, 700*time.Millisecond, "%s %d is early", id, k)
		}
	}
}
