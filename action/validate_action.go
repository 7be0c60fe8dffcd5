package action

import (
	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/rule"
)

func (v *violations) action(a *gnomonv1.Action, o Options) {
	const field = "spec.action"
	switch Kind(a) {
	case KindMock:
		v.mock(field+"."+KindMock, a.GetMockAction(), o)
	case KindPush:
		v.push(field+"."+KindPush, a.GetSendTechnicalPush())
	case KindHTTP:
		v.http(field+"."+KindHTTP, a.GetHttpRequest())
	default:
		v.add(field, RuleRequired, "one of mock_action, send_technical_push and http_request must be set")
	}
}

// mock holds M-03: nobody but tests of gnomon itself may use it.
func (v *violations) mock(field string, m *gnomonv1.MockAction, o Options) {
	if !o.AllowMock {
		v.add(field, RuleNotAllowed, "mock_action is for tests of gnomon itself and is not allowed here")
	}
	if m.GetBehaviour() == nil {
		v.add(field, RuleRequired, "one of succeed, fail_first, fail, panic, hang and sleep must be set")
	}
	v.duration(field+".sleep.duration", m.GetSleep().GetDuration(), 0, MaxMockSleep)
}

func (v *violations) push(field string, p *gnomonv1.SendTechnicalPush) {
	v.text(field+".recipient", p.GetRecipient())
	v.text(field+".type", p.GetType())
	if size := len(p.GetPayload()); size > MaxPushPayload {
		v.add(field+".payload", RuleTooLong, "payload is %d bytes long, at most %d are allowed", size, MaxPushPayload)
	}
	v.duration(field+".timeout", p.GetTimeout(), 0, MaxPerformTimeout)
}

func (v *violations) text(field, value string) {
	switch {
	case value == "":
		v.add(field, RuleRequired, "%s must be set", rule.LastName(field))
	case len(value) > MaxPushField:
		v.add(field, RuleTooLong, "%s is %d bytes long, at most %d are allowed", rule.LastName(field), len(value), MaxPushField)
	}
}
