package action

import (
	"cmp"
	"net/http"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	gnomonv1 "gnomon/api/gnomon/v1"
)

const (
	defaultMethod      = http.MethodPost
	defaultTimeZone    = "UTC"
	defaultMockMessage = "mock failure"
)

// Normalise returns a deep copy with every default filled in, so that what is
// stored and shown says what will happen, whatever defaults later versions have
// (M-19). Status and the output-only parts of Meta (guid, create_time, update_time)
// are dropped: they are gnomon's to write.
//
// Timestamps, the period and the jitter are cut to whole microseconds, the precision
// of the store. What is invalid stays as it is, except by less than a microsecond, so
// Normalise may be called before or after Validate: what Validate accepts it accepts
// in normalised form too.
// Normalising twice changes nothing. Nil yields an empty message.
func Normalise(a *gnomonv1.ScheduledAction) *gnomonv1.ScheduledAction {
	n := &gnomonv1.ScheduledAction{}
	if m := a.GetMeta(); m != nil {
		n.Meta = &gnomonv1.Meta{Id: m.GetId(), Labels: proto.CloneOf(m).GetLabels()}
	}
	if a.GetSpec() != nil {
		n.Spec = proto.CloneOf(a.GetSpec())
		normaliseSchedule(n.GetSpec())
		normaliseRetryPolicy(n.GetSpec())
		normaliseAction(n.GetSpec().GetAction())
	}
	return n
}

func normaliseSchedule(s *gnomonv1.Spec) {
	truncateTimestamp(s.GetStartPolicy().GetStartAt())
	truncateTimestamp(s.GetSendPolicy().GetDeadline())
	truncateDuration(s.GetStartPolicy().GetJitter())
	truncateDuration(s.GetSendPolicy().GetSendPeriodicallyPolicy().GetPeriod())
	if c := s.GetSendPolicy().GetSendByCalendarPolicy(); c != nil {
		c.TimeZone = cmp.Or(c.GetTimeZone(), defaultTimeZone)
	}
}

func normaliseRetryPolicy(s *gnomonv1.Spec) {
	r := RetryPolicy(s)
	if r.GetRestartPeriodScale() == nil {
		r.RestartPeriodScale = durationpb.New(0)
	}
	p := s.GetSendPolicy()
	if once := p.GetSendOncePolicy(); once != nil {
		once.RetryPolicy = r
	}
	if by := p.GetSendPeriodicallyPolicy(); by != nil {
		by.RetryPolicy = r
	}
	if by := p.GetSendByCalendarPolicy(); by != nil {
		by.RetryPolicy = r
	}
}

func normaliseAction(a *gnomonv1.Action) {
	if m := a.GetMockAction(); m != nil {
		normaliseMock(m)
	}
	if p := a.GetSendTechnicalPush(); p != nil {
		p.Timeout = normaliseTimeout(p.GetTimeout())
	}
	if r := a.GetHttpRequest(); r != nil {
		r.Method = httpMethod(r)
		r.Timeout = normaliseTimeout(r.GetTimeout())
		if len(r.GetAcceptedStatus()) == 0 {
			r.AcceptedStatus = []*gnomonv1.HttpRequest_StatusRange{{First: 200, Last: 299}}
		}
		for _, s := range r.GetAcceptedStatus() {
			s.Last = cmp.Or(s.GetLast(), s.GetFirst())
		}
	}
}

func normaliseMock(m *gnomonv1.MockAction) {
	if f := m.GetFail(); f != nil {
		f.Message = cmp.Or(f.GetMessage(), defaultMockMessage)
	}
	if s := m.GetSleep(); s != nil && s.GetDuration() == nil {
		s.Duration = durationpb.New(0)
	}
}

func normaliseTimeout(d *durationpb.Duration) *durationpb.Duration {
	if d == nil || d.GetSeconds() == 0 && d.GetNanos() == 0 {
		return durationpb.New(DefaultPerformTimeout)
	}
	return d
}

func httpMethod(r *gnomonv1.HttpRequest) string {
	return cmp.Or(r.GetMethod(), defaultMethod)
}

func truncateTimestamp(t *timestamppb.Timestamp) {
	if t.IsValid() {
		t.Nanos -= t.GetNanos() % int32(time.Microsecond)
	}
}

func truncateDuration(d *durationpb.Duration) {
	if d.IsValid() {
		d.Nanos -= d.GetNanos() % int32(time.Microsecond)
	}
}
