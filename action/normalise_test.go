package action_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/timestamppb"

	"gnomon/action"
	gnomonv1 "gnomon/api/gnomon/v1"
)

func parse(t *testing.T, text string) *gnomonv1.ScheduledAction {
	t.Helper()
	a := &gnomonv1.ScheduledAction{}
	require.NoError(t, protojson.Unmarshal([]byte(text), a))
	return a
}

// M-19, and every default that the contract names.
func TestNormaliseFillsInDefaults(t *testing.T) {
	t.Parallel()
	const retry = `"retryPolicy": {"restartPeriodScale": "0s", "minRestartPeriod": "1s", "maxRestartPeriod": "1s"}`
	for name, c := range map[string]struct{ given, want string }{
		"nothing": {`{}`, `{}`},
		"empty":   {`{"meta": {}, "spec": {}}`, `{"meta": {}, "spec": {}}`},
		"empty action": {
			`{"spec": {"startPolicy": {}, "sendPolicy": {}, "action": {}}}`,
			`{"spec": {"startPolicy": {}, "sendPolicy": {}, "action": {}}}`,
		},
		"once": {`{"spec": {"sendPolicy": {"sendOncePolicy": {}}}}`, `{"spec": {"sendPolicy": {"sendOncePolicy": {` + retry + `}}}}`},
		"period": {
			`{"spec": {"sendPolicy": {"sendPeriodicallyPolicy": {"period": "2.0000019s"}}}}`,
			`{"spec": {"sendPolicy": {"sendPeriodicallyPolicy": {"period": "2.000001s", ` + retry + `}}}}`,
		},
		"calendar": {
			`{"spec": {"sendPolicy": {"sendByCalendarPolicy": {"cron": "@daily"}}}}`,
			`{"spec": {"sendPolicy": {"sendByCalendarPolicy": {"cron": "@daily", "timeZone": "UTC", ` + retry + `}}}}`,
		},
		"a retry policy keeps what is not set (M-20)": {
			`{"spec": {"sendPolicy": {"sendOncePolicy": {"retryPolicy": {"maxRetries": 2}}}}}`,
			`{"spec": {"sendPolicy": {"sendOncePolicy": {"retryPolicy": {"maxRetries": 2, "restartPeriodScale": "0s"}}}}}`,
		},
		"times are cut to microseconds": {
			`{"spec": {"startPolicy": {"startAt": "2026-11-21T10:00:00.123456789Z", "jitter": "1.000000999s"}, "sendPolicy": {"deadline": "1969-12-31T23:59:59.999999999Z"}}}`,
			`{"spec": {"startPolicy": {"startAt": "2026-11-21T10:00:00.123456Z", "jitter": "1s"}, "sendPolicy": {"deadline": "1969-12-31T23:59:59.999999Z"}}}`,
		},
		"http": {
			`{"spec": {"action": {"httpRequest": {"url": "http://a", "timeout": "0s"}}}}`,
			`{"spec": {"action": {"httpRequest": {"url": "http://a", "method": "POST", "timeout": "10s", "acceptedStatus": [{"first": 200, "last": 299}]}}}}`,
		},
		"http, all set": {
			`{"spec": {"action": {"httpRequest": {"method": "GET", "timeout": "3s", "acceptedStatus": [{"first": 204}, {"first": 300, "last": 302}]}}}}`,
			`{"spec": {"action": {"httpRequest": {"method": "GET", "timeout": "3s", "acceptedStatus": [{"first": 204, "last": 204}, {"first": 300, "last": 302}]}}}}`,
		},
		"push":       {`{"spec": {"action": {"sendTechnicalPush": {}}}}`, `{"spec": {"action": {"sendTechnicalPush": {"timeout": "10s"}}}}`},
		"mock fail":  {`{"spec": {"action": {"mockAction": {"fail": {}}}}}`, `{"spec": {"action": {"mockAction": {"fail": {"message": "mock failure"}}}}}`},
		"mock sleep": {`{"spec": {"action": {"mockAction": {"sleep": {}}}}}`, `{"spec": {"action": {"mockAction": {"sleep": {"duration": "0s"}}}}}`},
		"output only": {
			`{"meta": {"id": "a", "guid": "g", "labels": {"k": "v"}, "createTime": "2026-11-21T10:00:00Z", "updateTime": "2026-11-21T10:00:00Z"}, "status": {"state": "FAILED"}}`,
			`{"meta": {"id": "a", "labels": {"k": "v"}}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			given := parse(t, c.given)
			before := proto.CloneOf(given)
			got := action.Normalise(given)
			require.Empty(t, cmp.Diff(parse(t, c.want), got, protocmp.Transform()))
			require.Empty(t, cmp.Diff(before, given, protocmp.Transform()), "what was given is untouched")
			require.Empty(t, cmp.Diff(got, action.Normalise(got), protocmp.Transform()), "twice is once")
		})
	}
	require.Empty(t, cmp.Diff(&gnomonv1.ScheduledAction{}, action.Normalise(nil), protocmp.Transform()))
}

func TestNormaliseLeavesWhatIsInvalid(t *testing.T) {
	t.Parallel()
	bad := &timestamppb.Timestamp{Seconds: -1 << 62, Nanos: 1_234_567_899}
	a := action.Normalise(&gnomonv1.ScheduledAction{Spec: &gnomonv1.Spec{StartPolicy: &gnomonv1.StartPolicy{StartAt: bad}}})
	require.True(t, proto.Equal(bad, a.GetSpec().GetStartPolicy().GetStartAt()))
}

func TestNormaliseCopiesDeeply(t *testing.T) {
	t.Parallel()
	a := valid(withRetry(policy(time.Second, time.Second, 0, 0)))
	a.Meta.Labels = map[string]string{"k": "v"}
	n := action.Normalise(a)
	a.Meta.Labels["k"] = "other"
	a.Spec.SendPolicy.GetSendOncePolicy().RetryPolicy.MaxRetries = 99
	a.Spec.Action.GetHttpRequest().Url = "other"
	require.Equal(t, "v", n.GetMeta().GetLabels()["k"])
	require.EqualValues(t, 3, action.RetryPolicy(n.GetSpec()).GetMaxRetries())
	require.Equal(t, "https://example.com/orders", n.GetSpec().GetAction().GetHttpRequest().GetUrl())
}
