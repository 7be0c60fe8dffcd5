package action

import gnomonv1 "gnomon/api/gnomon/v1"

// Names of the kinds of work: the cases of the oneof in gnomon.v1.Action
// (seed 000, TAction; M-02). They are also what lists filter by.
const (
	KindMock = "mock_action"
	KindPush = "send_technical_push"
	KindHTTP = "http_request"
)

// Kind returns the name of the oneof case that is set, one of the Kind constants,
// or "" if none is or if this binary does not know it.
func Kind(a *gnomonv1.Action) string {
	switch a.GetAction().(type) {
	case *gnomonv1.Action_MockAction:
		return KindMock
	case *gnomonv1.Action_SendTechnicalPush:
		return KindPush
	case *gnomonv1.Action_HttpRequest:
		return KindHTTP
	}
	return ""
}

// Periodic says whether the action is performed again and again, by a period or
// by the calendar, rather than until its first success (seed 000, SendPolicy).
func Periodic(s *gnomonv1.Spec) bool {
	p := s.GetSendPolicy()
	return p.GetSendPeriodicallyPolicy() != nil || p.GetSendByCalendarPolicy() != nil
}
