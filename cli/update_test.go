package cli

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	gnomonv1 "gnomon/api/gnomon/v1"
)

func updated(t *testing.T, fake *fakeServer) *gnomonv1.UpdateActionRequest {
	t.Helper()
	sent := requestsOf[*gnomonv1.UpdateActionRequest](fake)
	require.Len(t, sent, 1)
	return sent[0]
}

func TestUpdateChangesOnlyWhatFlagsSay(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		args []string
		want func(*gnomonv1.Spec)
	}{
		"url": {[]string{"--url", "http://other/"}, func(s *gnomonv1.Spec) { s.GetAction().GetHttpRequest().Url = "http://other/" }},
		"start": {[]string{"--in", "1h"}, func(s *gnomonv1.Spec) {
			s.StartPolicy.StartAt = timestamppb.New(testNow.Add(time.Hour))
		}},
		"one of the retry policy": {[]string{"--max-retries", "7"}, func(s *gnomonv1.Spec) {
			s.GetSendPolicy().GetSendOncePolicy().RetryPolicy.MaxRetries = 7
		}},
		"once to periodic keeps the retry policy": {[]string{"--every", "1h"}, func(s *gnomonv1.Spec) {
			*s = *parse(t, s, `{"startPolicy": {"startAt": "2026-11-20T10:00:05Z"},
				"sendPolicy": {"sendPeriodicallyPolicy": {"period": "3600s", "retryPolicy": {"maxRetries": 3, "restartPeriodScale": "0s",
				"minRestartPeriod": "1s", "maxRestartPeriod": "60s"}}},
				"action": {"httpRequest": {"method": "POST", "url": "http://127.0.0.1:7790/hello", "body": "eyJoZWxsbyI6IndvcmxkIn0="}}}`)
		}},
		"another kind": {[]string{"--mock", "hang"}, func(s *gnomonv1.Spec) {
			s.Action = &gnomonv1.Action{Action: &gnomonv1.Action_MockAction{MockAction: &gnomonv1.MockAction{
				Behaviour: &gnomonv1.MockAction_Hang_{Hang: &gnomonv1.MockAction_Hang{}},
			}}}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fake := startFake(t)
			fake.put(waiting(t, "hello"))
			fake.run(t, append([]string{"action", "update", "hello"}, tc.args...)...).ok(t)
			want := waiting(t, "hello").GetSpec()
			tc.want(want)
			sent := updated(t, fake)
			requireProto(t, want, sent.GetAction().GetSpec())
			require.Equal(t, "guid-of-hello", sent.GetEtag())
			require.Equal(t, []string{"spec"}, sent.GetUpdateMask().GetPaths())
			require.Equal(t, "hello", sent.GetAction().GetMeta().GetId())
			require.False(t, sent.GetAllowMissing())
		})
	}
}

// New labels must not reset counters: M-42 is about a new spec. The server refuses
// allow_missing without a spec.
func TestUpdateOfLabelsLeavesTheSpecAlone(t *testing.T) {
	t.Parallel()
	fake := startFake(t)
	fake.put(waiting(t, "hello"))
	fake.run(t, "action", "update", "hello", "--label", "stage=b", "--label", "team-", "--allow-missing").ok(t)
	requireProto(t, parse(t, &gnomonv1.UpdateActionRequest{}, `{"action": {"meta": {"id": "hello", "labels": {"stage": "b"}}},
		"updateMask": "meta.labels", "etag": "guid-of-hello"}`), updated(t, fake))
}

func TestUpdateAbortsWhenSomebodyElseWasFaster(t *testing.T) {
	t.Parallel()
	fake := startFake(t)
	fake.put(waiting(t, "hello"))
	fake.refuse = func(m proto.Message) error {
		if _, ok := m.(*gnomonv1.UpdateActionRequest); ok {
			fake.actions["hello"].Meta.Guid = "another"
		}
		return nil
	}
	got := fake.run(t, "action", "update", "hello", "--url", "http://other/")
	require.Equal(t, ExitFailed, got.code)
	require.Contains(t, got.stderr, "error: ABORTED: ")

	got = fake.run(t, "action", "update", "hello", "--url", "http://other/", "--etag", "stale")
	require.Equal(t, ExitFailed, got.code)
	require.Contains(t, got.stderr, "error: ABORTED: ")
}

// M-11: a start in the past would be refused, although nobody asked to change it.
func TestUpdateCarriesAStartThatHasPassed(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		policy, start, want string
		args                []string
	}{
		"the next tick, in phase": {
			policy: `{"sendPeriodicallyPolicy": {"period": "3600s"}}`,
			start:  "2026-11-19T09:10:00Z", want: "2026-11-20T10:10:00Z",
		},
		"a tick that is now is over": {
			policy: `{"sendPeriodicallyPolicy": {"period": "3600s"}}`,
			start:  "2026-11-19T09:00:00Z", want: "2026-11-20T11:00:00Z",
		},
		"the new period's phase": {
			policy: `{"sendPeriodicallyPolicy": {"period": "3600s"}}`, args: []string{"--every", "1m"},
			start: "2026-11-19T09:00:30Z", want: "2026-11-20T10:00:30Z",
		},
		"the calendar's next match from now": {
			policy: `{"sendByCalendarPolicy": {"cron": "@daily"}}`,
			start:  "2026-11-19T09:00:00Z", want: "2026-11-20T10:00:00Z",
		},
		"a once-action long past": {
			policy: `{"sendOncePolicy": {}}`, start: "2026-11-19T09:00:00Z", want: "2026-11-20T10:00:00Z",
		},
		"a once-action just past": {
			policy: `{"sendOncePolicy": {}}`, start: "2026-11-20T09:55:00Z", want: "2026-11-20T09:55:00Z",
		},
		"a start to come": {
			policy: `{"sendPeriodicallyPolicy": {"period": "3600s"}}`,
			start:  "2026-11-20T10:00:01Z", want: "2026-11-20T10:00:01Z",
		},
		"a start that was given": {
			policy: `{"sendPeriodicallyPolicy": {"period": "3600s"}}`, args: []string{"--at", "2026-11-20T09:58:00Z"},
			start: "2026-11-19T09:00:00Z", want: "2026-11-20T09:58:00Z",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fake := startFake(t)
			action := waiting(t, "hello")
			action.Spec.SendPolicy = parse(t, &gnomonv1.SendPolicy{}, tc.policy)
			action.Spec.StartPolicy = parse(t, &gnomonv1.StartPolicy{}, `{"startAt": "`+tc.start+`"}`)
			fake.put(action)
			got := fake.run(t, append([]string{"action", "update", "hello", "--url", "http://other/"}, tc.args...)...).ok(t)
			start := utc(startOf(updated(t, fake).GetAction()))
			require.Equal(t, tc.want, start)
			if tc.start == tc.want || slices.Contains(tc.args, "--at") {
				require.Empty(t, got.stderr)
				return
			}
			require.Equal(t, "note: the start has passed, the new spec starts at "+tc.want+"\n", got.stderr)
		})
	}
}

// M-08
func TestUpdateAllowMissingCreates(t *testing.T) {
	t.Parallel()
	fake := startFake(t)
	require.Equal(t, ExitFailed, fake.run(t, "action", "update", "new", "--url", "http://h/").code)
	require.Empty(t, requestsOf[*gnomonv1.UpdateActionRequest](fake))

	fake.run(t, "action", "update", "new", "--url", "http://h/", "--label", "a=b", "--allow-missing", "--request-id", "r").ok(t)
	requireProto(t, parse(t, &gnomonv1.UpdateActionRequest{}, `{"allowMissing": true, "requestId": "r", "action": {
		"meta": {"id": "new", "labels": {"a": "b"}}, "spec": {"startPolicy": {"startAt": "2026-11-20T10:00:00Z"},
		"sendPolicy": {"sendOncePolicy": {}}, "action": {"httpRequest": {"url": "http://h/"}}}}}`), updated(t, fake))
}

// A finished action has no current guid to compare with.
func TestUpdateOfAFinishedActionSendsNoEtag(t *testing.T) {
	t.Parallel()
	fake := startFake(t)
	action := waiting(t, "hello")
	action.Status.State = gnomonv1.Status_SUCCEEDED
	fake.put(action)
	fake.run(t, "action", "update", "hello", "--in", "5s", "--allow-missing").ok(t)
	sent := updated(t, fake)
	require.Empty(t, sent.GetEtag())
	require.Empty(t, sent.GetUpdateMask().GetPaths())
	require.Equal(t, map[string]string{"team": "a"}, sent.GetAction().GetMeta().GetLabels())
}

// What get prints is edited and sent back; its guid guards against others.
func TestUpdateFromFileUsesItsGuid(t *testing.T) {
	t.Parallel()
	fake := startFake(t)
	fake.put(waiting(t, "hello"))
	file := writeFile(t, "a.yaml", fake.run(t, "action", "get", "hello", "-o", "yaml").ok(t).stdout)
	fake.run(t, "action", "update", "-f", file, "--method", "PUT", "--validate-only").ok(t)
	sent := updated(t, fake)
	require.Equal(t, "guid-of-hello", sent.GetEtag())
	require.Empty(t, sent.GetAction().GetMeta().GetGuid())
	require.Nil(t, sent.GetAction().GetStatus())
	require.Nil(t, sent.GetUpdateMask())
	require.True(t, sent.GetValidateOnly())
	want := waiting(t, "hello").GetSpec()
	want.GetAction().GetHttpRequest().Method = "PUT"
	requireProto(t, want, sent.GetAction().GetSpec())
}

// M-19: the server fills in a policy without retries, which says nothing of delays.
func TestRetryFlagsOnAPolicyWithoutRetriesStartAfresh(t *testing.T) {
	t.Parallel()
	fake := startFake(t)
	fake.run(t, "action", "create", "hello", "--in", "5s", "--url", "http://h/").ok(t)
	fake.run(t, "action", "update", "hello", "--max-retries", "2").ok(t)
	requireProto(t, parse(t, &gnomonv1.RetryPolicy{}, `{"maxRetries": 2, "restartPeriodScale": "1s", "restartPeriodBackOff": 2,
		"minRestartPeriod": "1s", "maxRestartPeriod": "60s"}`), retryPolicy(updated(t, fake).GetAction().GetSpec().GetSendPolicy()))
}

func TestUpdateDeadlineAndTimeZone(t *testing.T) {
	t.Parallel()
	fake := startFake(t)
	action := waiting(t, "hello")
	action.Spec.SendPolicy = parse(t, &gnomonv1.SendPolicy{}, `{"deadline": "2027-01-01T00:00:00Z",
		"sendByCalendarPolicy": {"cron": "@daily", "timeZone": "Asia/Tokyo"}}`)
	fake.put(action)
	fake.run(t, "action", "update", "hello", "--deadline", "none", "--cron", "@hourly").ok(t)
	requireProto(t, parse(t, &gnomonv1.SendPolicy{}, `{"sendByCalendarPolicy": {"cron": "@hourly", "timeZone": "Asia/Tokyo"}}`),
		updated(t, fake).GetAction().GetSpec().GetSendPolicy())
}
