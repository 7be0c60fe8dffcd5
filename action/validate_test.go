package action_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"gnomon/action"
	gnomonv1 "gnomon/api/gnomon/v1"
)

func valid(s *gnomonv1.Spec) *gnomonv1.ScheduledAction {
	return &gnomonv1.ScheduledAction{Meta: &gnomonv1.Meta{Id: "order-17"}, Spec: s}
}

func httpSpec(change func(*gnomonv1.HttpRequest)) *gnomonv1.Spec {
	s := once(start)
	change(s.GetAction().GetHttpRequest())
	return s
}

func withRetry(p *gnomonv1.RetryPolicy) *gnomonv1.Spec {
	s := once(start)
	s.SendPolicy.GetSendOncePolicy().RetryPolicy = p
	return s
}

func mock(m *gnomonv1.MockAction) *gnomonv1.Spec {
	s := once(start)
	s.Action = &gnomonv1.Action{Action: &gnomonv1.Action_MockAction{MockAction: m}}
	return s
}

func push(p *gnomonv1.SendTechnicalPush) *gnomonv1.Spec {
	s := once(start)
	s.Action = &gnomonv1.Action{Action: &gnomonv1.Action_SendTechnicalPush{SendTechnicalPush: p}}
	return s
}

func sleeping(d time.Duration) *gnomonv1.MockAction {
	return &gnomonv1.MockAction{Behaviour: &gnomonv1.MockAction_Sleep_{Sleep: &gnomonv1.MockAction_Sleep{Duration: durationpb.New(d)}}}
}

const (
	startAt   = "spec.start_policy.start_at"
	jitterAt  = "spec.start_policy.jitter"
	retryAt   = "spec.send_policy.send_once_policy.retry_policy"
	periodAt  = "spec.send_policy.send_periodically_policy.period"
	cronAt    = "spec.send_policy.send_by_calendar_policy.cron"
	httpAt    = "spec.action.http_request"
	headersAt = httpAt + ".headers"
	pushAt    = "spec.action.send_technical_push"
	mockAt    = "spec.action.mock_action"
)

type refusal struct {
	name string
	spec *gnomonv1.Spec
	// want is "field RULE" for each violation, in order.
	want []string
}

func refusals() []refusal {
	year10000 := &timestamppb.Timestamp{Seconds: 253402300800}
	odd := &durationpb.Duration{Seconds: 1, Nanos: -1}
	s := time.Second
	header := func(name, value string) *gnomonv1.Spec {
		return httpSpec(func(r *gnomonv1.HttpRequest) { r.Headers = map[string]string{name: value} })
	}
	address := func(u string) *gnomonv1.Spec {
		return httpSpec(func(r *gnomonv1.HttpRequest) { r.Url = u })
	}
	status := func(first, last uint32) *gnomonv1.Spec {
		return httpSpec(func(r *gnomonv1.HttpRequest) {
			r.AcceptedStatus = []*gnomonv1.HttpRequest_StatusRange{{First: 200}, {First: first, Last: last}}
		})
	}
	all := []refusal{
		{"no spec", nil, []string{"spec REQUIRED"}},
		{"empty spec", &gnomonv1.Spec{}, []string{startAt + " REQUIRED", "spec.send_policy REQUIRED", "spec.action REQUIRED"}},
		{"start 10 min and 1 µs ago", once(start.Add(-10*time.Minute - time.Microsecond)), []string{startAt + " TOO_EARLY"}},
		{"start 11 min ago", once(start.Add(-11 * time.Minute)), []string{startAt + " TOO_EARLY"}},
		{"start in the year 10000", &gnomonv1.Spec{
			StartPolicy: &gnomonv1.StartPolicy{StartAt: year10000}, SendPolicy: once(start).GetSendPolicy(), Action: once(start).GetAction(),
		}, []string{startAt + " INVALID_TIMESTAMP"}},
		{"deadline invalid", func() *gnomonv1.Spec { s := once(start); s.SendPolicy.Deadline = year10000; return s }(), []string{"spec.send_policy.deadline INVALID_TIMESTAMP"}},
		{"jitter negative", jittered(once(start), -time.Microsecond), []string{jitterAt + " OUT_OF_RANGE"}},
		{"jitter above 24 h", jittered(once(start), 24*time.Hour+time.Microsecond), []string{jitterAt + " OUT_OF_RANGE"}},
		{"jitter is the period", jittered(periodic(start, time.Minute), time.Minute), []string{jitterAt + " NOT_BELOW_PERIOD"}},
		{"jitter is the period when cut", jittered(periodic(start, s+1), s), []string{jitterAt + " NOT_BELOW_PERIOD"}},
		{"jitter invalid", func() *gnomonv1.Spec { s := once(start); s.StartPolicy.Jitter = odd; return s }(), []string{jitterAt + " INVALID_DURATION"}},
		{"no period", spec(start, &gnomonv1.SendPolicy{Policy: &gnomonv1.SendPolicy_SendPeriodicallyPolicy{SendPeriodicallyPolicy: &gnomonv1.SendPeriodicallyPolicy{}}}), []string{periodAt + " REQUIRED"}},
		{"period 0", periodic(start, 0), []string{periodAt + " OUT_OF_RANGE"}},
		{"period negative", periodic(start, -time.Hour), []string{periodAt + " OUT_OF_RANGE"}},
		{"period below 1 s", periodic(start, s-1), []string{periodAt + " OUT_OF_RANGE"}},
		{"period above 100 years", periodic(start, action.MaxDuration+time.Microsecond), []string{periodAt + " OUT_OF_RANGE"}},
		{"no cron", byCalendar(start, "", ""), []string{cronAt + " REQUIRED"}},
		{"cron too long", byCalendar(start, strings.Repeat("1,", 300)+"1 * * * *", ""), []string{cronAt + " TOO_LONG"}},
		{"cron never", byCalendar(start, "0 0 31 2 *", ""), []string{cronAt + " NO_MATCH"}},
		{"cron not for five years", byCalendar(time.Date(2096, 3, 1, 0, 0, 0, 0, time.UTC), "0 0 29 2 *", ""), []string{cronAt + " NO_MATCH"}},
		{"time zone", byCalendar(start, "* * * * *", "Local"), []string{"spec.send_policy.send_by_calendar_policy.time_zone UNKNOWN_TIME_ZONE"}},

		{"empty retry policy", withRetry(&gnomonv1.RetryPolicy{}), []string{retryAt + ".min_restart_period OUT_OF_RANGE"}},
		{"min unset", withRetry(&gnomonv1.RetryPolicy{MaxRestartPeriod: durationpb.New(s)}), []string{retryAt + ".min_restart_period OUT_OF_RANGE"}},
		{"max unset", withRetry(&gnomonv1.RetryPolicy{MinRestartPeriod: durationpb.New(s)}), []string{retryAt + ".max_restart_period BELOW_MINIMUM"}},
		{"min below 1 s", withRetry(policy(s-1, s, 0, 0)), []string{retryAt + ".min_restart_period OUT_OF_RANGE"}},
		{"min above max", withRetry(policy(2*s, s, 0, 0)), []string{retryAt + ".max_restart_period BELOW_MINIMUM"}},
		{"max above 100 years", withRetry(policy(s, action.MaxDuration+1, 0, 0)), []string{retryAt + ".max_restart_period OUT_OF_RANGE"}},
		{"scale negative", withRetry(policy(s, s, -1, 0)), []string{retryAt + ".restart_period_scale OUT_OF_RANGE"}},
		{"scale invalid", func() *gnomonv1.Spec { p := policy(s, s, 0, 0); p.RestartPeriodScale = odd; return withRetry(p) }(), []string{retryAt + ".restart_period_scale INVALID_DURATION"}},
		{"back off NaN", withRetry(policy(s, s, 0, math.NaN())), []string{retryAt + ".restart_period_back_off NOT_FINITE"}},
		{"back off infinite", withRetry(policy(s, s, 0, math.Inf(1))), []string{retryAt + ".restart_period_back_off NOT_FINITE"}},
		{"back off negative", withRetry(policy(s, s, 0, -0.1)), []string{retryAt + ".restart_period_back_off OUT_OF_RANGE"}},

		{"no url", address(""), []string{httpAt + ".url REQUIRED"}},
		{"url too long", address("https://example.com/" + strings.Repeat("a", 2048)), []string{httpAt + ".url TOO_LONG"}},
		{"url not in ASCII", address("https://example.com/ä"), []string{httpAt + ".url INVALID_CHARACTER"}},
		{"url with a space", address("https://example.com/?a b"), []string{httpAt + ".url INVALID_CHARACTER"}},
		{"method unknown", httpSpec(func(r *gnomonv1.HttpRequest) { r.Method = "TRACE" }), []string{httpAt + ".method UNSUPPORTED"}},
		{"method in lower case", httpSpec(func(r *gnomonv1.HttpRequest) { r.Method = "get" }), []string{httpAt + ".method UNSUPPORTED"}},
		{"header without a name", header("", "a"), []string{headersAt + `[""] REQUIRED`}},
		{"header not a token", header("a b", "a"), []string{headersAt + `["a b"] INVALID_CHARACTER`}},
		{"header with a line break", header("A", "a\r\nb: c"), []string{headersAt + `["A"] INVALID_CHARACTER`}},
		{"header too long", header("A", strings.Repeat("a", 4097)), []string{headersAt + `["A"] TOO_LONG`}},
		{"headers twice", httpSpec(func(r *gnomonv1.HttpRequest) { r.Headers = map[string]string{"x-a": "1", "X-A": "2", "X-a": "3"} }), []string{headersAt + `["X-a"] DUPLICATE`, headersAt + `["x-a"] DUPLICATE`}},
		{"headers too many", httpSpec(func(r *gnomonv1.HttpRequest) { r.Headers = many(65) }), []string{headersAt + " TOO_MANY"}},
		{"body too long", httpSpec(func(r *gnomonv1.HttpRequest) { r.Body = make([]byte, 128<<10+1) }), []string{httpAt + ".body TOO_LONG"}},
		{"status below 100", status(99, 0), []string{httpAt + ".accepted_status[1].first OUT_OF_RANGE"}},
		{"status above 599", status(600, 0), []string{httpAt + ".accepted_status[1].first OUT_OF_RANGE"}},
		{"status backwards", status(300, 299), []string{httpAt + ".accepted_status[1].last OUT_OF_RANGE"}},
		{"status to 600", status(300, 600), []string{httpAt + ".accepted_status[1].last OUT_OF_RANGE"}},
		{"timeout above 10 min", httpSpec(func(r *gnomonv1.HttpRequest) { r.Timeout = durationpb.New(10*time.Minute + 1) }), []string{httpAt + ".timeout OUT_OF_RANGE"}},
		{"timeout negative", httpSpec(func(r *gnomonv1.HttpRequest) { r.Timeout = durationpb.New(-1) }), []string{httpAt + ".timeout OUT_OF_RANGE"}},

		{"push empty", push(&gnomonv1.SendTechnicalPush{}), []string{pushAt + ".recipient REQUIRED", pushAt + ".type REQUIRED"}},
		{"push too long", push(&gnomonv1.SendTechnicalPush{
			Recipient: strings.Repeat("a", 257), Type: strings.Repeat("a", 257), Payload: make([]byte, 64<<10+1), Timeout: durationpb.New(time.Hour),
		}), []string{pushAt + ".recipient TOO_LONG", pushAt + ".type TOO_LONG", pushAt + ".payload TOO_LONG", pushAt + ".timeout OUT_OF_RANGE"}},
		{"mock without behaviour", mock(&gnomonv1.MockAction{}), []string{mockAt + " REQUIRED"}},
		{"mock sleeps too long", mock(sleeping(time.Hour + 1)), []string{mockAt + ".sleep.duration OUT_OF_RANGE"}},
		{"spec too long", mock(&gnomonv1.MockAction{Behaviour: &gnomonv1.MockAction_Fail_{Fail: &gnomonv1.MockAction_Fail{Message: strings.Repeat("a", 256<<10)}}}), []string{"spec TOO_LONG"}},
	}
	for _, u := range []string{
		"example.com", "/path", "ftp://example.com", "http:example.com", "http://", "http://:80/", "http://example.com:0/", "http://example.com:65536/",
		"http://user@example.com/", "http://user:secret@example.com/", "http://example.com/#", "http://example.com/%zz", "http://[::1/",
	} {
		all = append(all, refusal{"url " + u, address(u), []string{httpAt + ".url INVALID_URL"}})
	}
	for _, c := range []string{
		"* * * *", "* * * * * *", "60 * * * *", "* 24 * * *", "* * 0 * *", "* * * 13 *", "* * * * 7", "*/0 * * * *", "a * * * *", "-1 * * * *",
		"5-1 * * * *", "1,,2 * * * *", ", * * * *", "*-5 * * * *", "? * * * *", "@every 1h", "@reboot", "TZ=UTC * * * * *", "CRON_TZ=UTC * * * * *", "TZ=", " ",
	} {
		all = append(all, refusal{"cron " + c, byCalendar(start, c, ""), []string{cronAt + " INVALID_CRON"}})
	}
	for _, h := range []string{
		"Idempotency-Key", "idempotency-key", "Gnomon-Action-Id", "GNOMON-Anything", "Host", "content-length", "Connection", "Transfer-Encoding",
		"Te", "Trailer", "Upgrade", "Keep-Alive", "Proxy-Connection",
	} {
		all = append(all, refusal{"header " + h, header(h, "a"), []string{fmt.Sprintf("%s[%q] RESERVED", headersAt, h)}})
	}
	return all
}

func many(n int) map[string]string {
	m := make(map[string]string, n)
	for i := range n {
		m[fmt.Sprintf("k%d", i)] = "v"
	}
	return m
}

func shown(v []action.Violation) []string {
	var all []string
	for _, v := range v {
		all = append(all, v.Field+" "+v.Rule)
	}
	return all
}

// M-02, M-11, M-12, M-14, M-16, M-18, M-20, M-28: each rule with its field and reason.
func TestValidateRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range refusals() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := action.Validate(valid(c.spec), start, action.Options{AllowMock: true})
			require.Equal(t, c.want, shown(got))
			require.Equal(t, got, action.ValidateSpec(c.spec, start, action.Options{AllowMock: true}))
			for _, v := range got {
				require.NotContains(t, v.Description, "secret")
				require.NotContains(t, v.Description, "%!")
			}
		})
	}
}

// Whoever normalises first must not accept more.
func TestNormalisingHidesNoViolation(t *testing.T) {
	t.Parallel()
	for _, c := range refusals() {
		got := action.Validate(action.Normalise(valid(c.spec)), start, action.Options{AllowMock: true})
		require.Equal(t, c.want, shown(got), c.name)
	}
}

// M-03
func TestMockIsRefusedUnlessAllowed(t *testing.T) {
	t.Parallel()
	s := mock(sleeping(time.Second))
	require.Empty(t, action.ValidateSpec(s, start, action.Options{AllowMock: true}))
	require.Equal(t, []string{mockAt + " NOT_ALLOWED"}, shown(action.ValidateSpec(s, start, action.Options{})))
}

// What is at the edge of the rules and inside.
func accepted() map[string]*gnomonv1.Spec {
	s := time.Second
	return map[string]*gnomonv1.Spec{
		"start now":                  once(start),
		"start 10 min ago":           once(start.Add(-10 * time.Minute)),                                  // M-11
		"start in the year 9999":     once(time.Date(9999, 12, 31, 23, 59, 59, 999_999_999, time.UTC)),    // M-11
		"deadline before start":      until(once(start), start.Add(-time.Hour)),                           // M-16
		"deadline long ago":          until(once(start), time.Unix(0, 0)),                                 // M-16
		"period 1 s":                 periodic(start, s),                                                  // M-28
		"period 100 years":           periodic(start, action.MaxDuration),                                 // M-28
		"jitter just below":          jittered(periodic(start, s), s-time.Microsecond),                    // M-28
		"jitter 24 h":                jittered(once(start), 24*time.Hour),                                 //
		"least retry policy":         withRetry(policy(s, s, 0, 0)),                                       // M-20
		"wildest retry policy":       withRetry(policy(s, action.MaxDuration, action.MaxDuration, 1e308)), // M-18
		"calendar":                   byCalendar(start, "@daily", "Europe/Amsterdam"),                     //
		"calendar, leap day":         byCalendar(start, "0 0 29 2 *", ""),                                 //
		"push":                       push(&gnomonv1.SendTechnicalPush{Recipient: "r", Type: "t"}),        //
		"http":                       httpSpec(func(r *gnomonv1.HttpRequest) { r.Headers = many(64) }),    //
		"http, body":                 httpSpec(func(r *gnomonv1.HttpRequest) { r.Body = make([]byte, 128<<10) }),
		"http, address and port":     httpSpec(func(r *gnomonv1.HttpRequest) { r.Url = "http://[::1]:65535/?a=b" }),
		"http, header without value": httpSpec(func(r *gnomonv1.HttpRequest) { r.Headers = map[string]string{"Authorization": "", "X-Gnomon": "é"} }),
		"http, status": httpSpec(func(r *gnomonv1.HttpRequest) {
			r.AcceptedStatus = []*gnomonv1.HttpRequest_StatusRange{{First: 100, Last: 599}, {First: 404}}
		}),
		"http, timeout":           httpSpec(func(r *gnomonv1.HttpRequest) { r.Timeout = durationpb.New(10 * time.Minute) }),
		"finer than microseconds": jittered(until(periodic(start.Add(-10*time.Minute+1), s+1999), start.Add(1)), s+999),
	}
}

func TestValidateAccepts(t *testing.T) {
	t.Parallel()
	for name, s := range accepted() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Empty(t, action.Validate(valid(s), start, action.Options{}))
			require.Empty(t, action.Validate(action.Normalise(valid(s)), start, action.Options{}), "normalised")
		})
	}
}

// A spec that was accepted is not refused for its age when it is read again.
func TestValidateWithoutAClock(t *testing.T) {
	t.Parallel()
	require.Empty(t, action.ValidateSpec(once(time.Unix(0, 0)), time.Time{}, action.Options{}))
}

// The size is that of what is stored, or a spec that was accepted would be refused
// once its defaults are filled in.
func TestSizeIsThatOfTheNormalisedSpec(t *testing.T) {
	t.Parallel()
	message := strings.Repeat("a", 256<<10)
	refused, accepted := 0, 0
	for cut := range 200 {
		s := mock(&gnomonv1.MockAction{Behaviour: &gnomonv1.MockAction_Fail_{Fail: &gnomonv1.MockAction_Fail{Message: message[cut:]}}})
		before := action.Validate(valid(s), start, action.Options{AllowMock: true})
		after := action.Validate(action.Normalise(valid(s)), start, action.Options{AllowMock: true})
		require.Equal(t, shown(after), shown(before))
		if len(before) > 0 {
			refused++
		} else {
			accepted++
		}
	}
	require.Positive(t, refused)
	require.Positive(t, accepted)
}

// M-06
func TestValidateID(t *testing.T) {
	t.Parallel()
	for id, want := range map[string][]string{
		"":                       {"REQUIRED"},
		"a":                      nil,
		"-":                      nil,
		"Order_17.a:b~c-d":       nil,
		strings.Repeat("a", 200): nil,
		strings.Repeat("a", 201): {"TOO_LONG"},
		strings.Repeat("/", 201): {"TOO_LONG", "INVALID_CHARACTER"},
		".":                      {"INVALID_CHARACTER"},
		".a":                     {"INVALID_CHARACTER"},
		"a/b":                    {"INVALID_CHARACTER"},
		"a b":                    {"INVALID_CHARACTER"},
		"a\n":                    {"INVALID_CHARACTER"},
		"ä":                      {"INVALID_CHARACTER"},
		"٣":                      {"INVALID_CHARACTER"},
		"\xff":                   {"INVALID_CHARACTER"},
	} {
		var rules []string
		for _, v := range action.ValidateID("id", id) {
			require.Equal(t, "id", v.Field)
			rules = append(rules, v.Rule)
		}
		require.Equal(t, want, rules, "%q", id)
	}
	require.Equal(t, []string{"meta.id REQUIRED", "spec REQUIRED"}, shown(action.Validate(nil, start, action.Options{})))
}

// P-06: the order is that of the keys, never that of the map.
func TestValidateLabels(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 64)
	for range 20 {
		got := action.ValidateLabels("meta.labels", map[string]string{
			"": "", "Team": "a", "1a": "a", "a b": "a", "ok-1_.": strings.Repeat("v", 255), "ä": "a", long: "a", long[1:]: "a", "v": strings.Repeat("v", 256),
			strings.Repeat("ü", 80): "a",
		})
		require.Equal(t, []string{
			`meta.labels[""] REQUIRED`,
			`meta.labels["1a"] INVALID_CHARACTER`,
			`meta.labels["Team"] INVALID_CHARACTER`,
			`meta.labels["a b"] INVALID_CHARACTER`,
			`meta.labels["` + long + `"] TOO_LONG`,
			`meta.labels["v"] TOO_LONG`,
			`meta.labels["ä"] INVALID_CHARACTER`,
			`meta.labels["` + strings.Repeat("ü", 50) + `…"] TOO_LONG`,
		}, shown(got))
	}
	require.Empty(t, action.ValidateLabels("l", many(32)))
	require.Equal(t, []string{"l TOO_MANY"}, shown(action.ValidateLabels("l", many(33))))
}
