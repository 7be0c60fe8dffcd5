package action

import (
	"fmt"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/rule"
)

// maxSummary is in bytes. Temporal's server refuses summaries above 400 bytes, encoding
// included; what is left is for what callers put around it.
const maxSummary = 160

// Summary returns one short line for people that says what is performed, such as
// "POST https://example.com/orders": at most 160 bytes, without line breaks. It
// never shows a query, user info, headers, a body, a payload or a push's
// recipient, which may be a device token.
func Summary(a *gnomonv1.Action) string {
	return oneLine(summary(a))
}

func summary(a *gnomonv1.Action) string {
	switch Kind(a) {
	case KindMock:
		return "mock: " + mockSummary(a.GetMockAction())
	case KindPush:
		return "push: " + a.GetSendTechnicalPush().GetType()
	case KindHTTP:
		return httpSummary(a.GetHttpRequest())
	}
	return "nothing"
}

func mockSummary(m *gnomonv1.MockAction) string {
	switch b := m.GetBehaviour().(type) {
	case *gnomonv1.MockAction_Succeed_:
		return "succeed"
	case *gnomonv1.MockAction_FailFirst_:
		return fmt.Sprintf("fail %d times", b.FailFirst.GetAttempts())
	case *gnomonv1.MockAction_Fail_:
		return "fail"
	case *gnomonv1.MockAction_Panic_:
		return "panic"
	case *gnomonv1.MockAction_Hang_:
		return "hang"
	case *gnomonv1.MockAction_Sleep_:
		return "sleep " + b.Sleep.GetDuration().AsDuration().String()
	}
	return "nothing"
}

func httpSummary(r *gnomonv1.HttpRequest) string {
	u, err := rule.ParseURL(r.GetUrl())
	if err != nil {
		return httpMethod(r)
	}
	// Built anew from its harmless parts, so that a part which is not known here
	// cannot show.
	shown := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawPath: u.RawPath}
	return httpMethod(r) + " " + shown.String()
}

// oneLine makes s fit for a title: valid UTF-8, no control characters, bounded.
func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
	if len(s) <= maxSummary {
		return s
	}
	const ellipsis = "…"
	cut := maxSummary - len(ellipsis)
	for !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + ellipsis
}
