package action_test

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/durationpb"

	"gnomon/action"
	gnomonv1 "gnomon/api/gnomon/v1"
)

// M-02: whoever adds a case to the oneof is told here to add it to the rules.
func TestEveryCaseOfTheOneofHasAKind(t *testing.T) {
	t.Parallel()
	cases := (&gnomonv1.Action{}).ProtoReflect().Descriptor().Oneofs().ByName("action").Fields()
	require.Positive(t, cases.Len())
	for i := range cases.Len() {
		a := &gnomonv1.Action{}
		a.ProtoReflect().Set(cases.Get(i), a.ProtoReflect().NewField(cases.Get(i)))
		require.Equal(t, string(cases.Get(i).Name()), action.Kind(a))
		require.NotEqual(t, "nothing", action.Summary(a))
	}
	require.Empty(t, action.Kind(nil))
	require.Empty(t, action.Kind(&gnomonv1.Action{}))
}

func TestEveryBehaviourOfTheMockHasASummary(t *testing.T) {
	t.Parallel()
	cases := (&gnomonv1.MockAction{}).ProtoReflect().Descriptor().Oneofs().ByName("behaviour").Fields()
	for i := range cases.Len() {
		m := &gnomonv1.MockAction{}
		m.ProtoReflect().Set(cases.Get(i), m.ProtoReflect().NewField(cases.Get(i)))
		require.NotContains(t, action.Summary(mock(m).GetAction()), "nothing")
	}
}

func TestPeriodic(t *testing.T) {
	t.Parallel()
	require.False(t, action.Periodic(nil))
	require.False(t, action.Periodic(once(start)))
	require.True(t, action.Periodic(periodic(start, time.Hour)))
	require.True(t, action.Periodic(byCalendar(start, "@daily", "")))
}

// P-04: readable, and nothing in it that is secret.
func TestSummary(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		spec *gnomonv1.Spec
		want string
	}{
		"http":     {once(start), "POST https://example.com/orders"},
		"secrets":  {httpSpec(func(r *gnomonv1.HttpRequest) { r.Method, r.Url = "GET", "https://u:p@h:81/a%2Fb?token=x#y" }), "GET https://h:81/a%2Fb"},
		"broken":   {httpSpec(func(r *gnomonv1.HttpRequest) { r.Url = "http://h/%zz?token=x" }), "POST"},
		"opaque":   {httpSpec(func(r *gnomonv1.HttpRequest) { r.Url = "mailto:someone" }), "POST mailto:"},
		"push":     {push(&gnomonv1.SendTechnicalPush{Recipient: "token", Type: "re\nload", Payload: []byte("x")}), "push: re load"},
		"mock":     {mock(sleeping(90 * time.Second)), "mock: sleep 1m30s"},
		"not set":  {&gnomonv1.Spec{}, "nothing"},
		"not UTF8": {push(&gnomonv1.SendTechnicalPush{Type: "a\xffb"}), "push: a?b"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, action.Summary(c.spec.GetAction()))
		})
	}
	for n := range 4 {
		long := action.Summary(push(&gnomonv1.SendTechnicalPush{Type: strings.Repeat("a", n) + strings.Repeat("€", 90)}).GetAction())
		require.LessOrEqual(t, len(long), 160)
		require.Greater(t, len(long), 150)
		require.True(t, utf8.ValidString(long))
		require.True(t, strings.HasSuffix(long, "€…"))
	}
}

// M-04: the same for all attempts, another for every occurrence.
func TestIdempotencyKey(t *testing.T) {
	t.Parallel()
	m := &gnomonv1.Meta{Id: "order-17", Guid: "g"}
	require.Equal(t, "order-17/g/2026-11-21T10:00:00Z", action.IdempotencyKey(m, start))
	require.Equal(t, "order-17/g/2026-11-21T10:00:00.000001Z", action.IdempotencyKey(m, start.Add(time.Microsecond)))
	require.Equal(t, "order-17/g/2026-11-21T10:00:00Z", action.IdempotencyKey(m, start.In(time.FixedZone("", 3600))))
}

func TestPerformTimeout(t *testing.T) {
	t.Parallel()
	limited := func(d *durationpb.Duration) *gnomonv1.Spec {
		return httpSpec(func(r *gnomonv1.HttpRequest) { r.Timeout = d })
	}
	for name, c := range map[string]struct {
		spec *gnomonv1.Spec
		want time.Duration
	}{
		"http default":  {once(start), 10 * time.Second},
		"http 0":        {limited(durationpb.New(0)), 10 * time.Second},
		"http negative": {limited(durationpb.New(-1)), 10 * time.Second},
		"http 3 s":      {limited(durationpb.New(3 * time.Second)), 3 * time.Second},
		"http an hour":  {limited(durationpb.New(time.Hour)), 10 * time.Minute},
		"push 4 s":      {push(&gnomonv1.SendTechnicalPush{Timeout: durationpb.New(4 * time.Second)}), 4 * time.Second},
		"mock sleeps":   {mock(sleeping(time.Minute)), 70 * time.Second},
		"mock for ever": {mock(sleeping(1000 * time.Hour)), time.Hour + 10*time.Second},
		"mock hangs":    {mock(&gnomonv1.MockAction{Behaviour: &gnomonv1.MockAction_Hang_{}}), 10 * time.Second},
		"not set":       {&gnomonv1.Spec{}, 10 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, action.PerformTimeout(c.spec.GetAction()))
		})
	}
}
