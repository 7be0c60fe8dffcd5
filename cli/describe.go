package cli

import (
	"fmt"
	"strings"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// finished says whether nothing will happen any more.
func finished(state gnomonv1.Status_State) bool {
	switch state {
	case gnomonv1.Status_SUCCEEDED, gnomonv1.Status_FAILED, gnomonv1.Status_EXPIRED, gnomonv1.Status_DELETED:
		return true
	default:
		return false
	}
}

func stateName(state gnomonv1.Status_State) string {
	if state == gnomonv1.Status_STATE_UNSPECIFIED {
		return "-"
	}
	return state.String()
}

// kind is the name of the action's case as filters know it, such as http_request.
func kind(action *gnomonv1.Action) string {
	m := action.ProtoReflect()
	field := m.WhichOneof(m.Descriptor().Oneofs().ByName("action"))
	if field == nil {
		return "-"
	}
	return string(field.Name())
}

// summary is what the action does, in one line.
func summary(action *gnomonv1.Action) string {
	switch a := action.GetAction().(type) {
	case *gnomonv1.Action_HttpRequest:
		method := a.HttpRequest.GetMethod()
		if method == "" {
			method = "POST"
		}
		return method + " " + a.HttpRequest.GetUrl()
	case *gnomonv1.Action_SendTechnicalPush:
		return a.SendTechnicalPush.GetType() + " to " + a.SendTechnicalPush.GetRecipient()
	case *gnomonv1.Action_MockAction:
		m := a.MockAction.ProtoReflect()
		if field := m.WhichOneof(m.Descriptor().Oneofs().ByName("behaviour")); field != nil {
			return strings.ReplaceAll(string(field.Name()), "_", " ")
		}
	}
	return ""
}

// repetition is how often the action is performed, in words.
func repetition(policy *gnomonv1.SendPolicy) string {
	switch p := policy.GetPolicy().(type) {
	case *gnomonv1.SendPolicy_SendOncePolicy:
		return joinNonEmpty(", ", "once", retries(p.SendOncePolicy.GetRetryPolicy()))
	case *gnomonv1.SendPolicy_SendPeriodicallyPolicy:
		period := p.SendPeriodicallyPolicy
		return joinNonEmpty(", ", "every "+period.GetPeriod().AsDuration().String(), retries(period.GetRetryPolicy()))
	case *gnomonv1.SendPolicy_SendByCalendarPolicy:
		calendar := p.SendByCalendarPolicy
		zone := calendar.GetTimeZone()
		if zone == "" {
			zone = "UTC"
		}
		return joinNonEmpty(", ", fmt.Sprintf("cron %q in %s", calendar.GetCron(), zone), retries(calendar.GetRetryPolicy()))
	default:
		return "-"
	}
}

func retries(policy *gnomonv1.RetryPolicy) string {
	switch n := policy.GetMaxRetries(); n {
	case 0:
		return ""
	case 1:
		return "1 retry"
	default:
		return fmt.Sprintf("%d retries", n)
	}
}

// counters is succeeded/failed/interrupted.
func counters(status *gnomonv1.Status) string {
	return fmt.Sprintf("%d/%d/%d", status.GetSuccessfulAttemptsCounter(),
		status.GetFailedAttemptsCounter(), status.GetInterruptedAttemptsCounter())
}

func outcomeName(attempt *gnomonv1.AttemptStatus) string {
	if attempt.GetOutcome() == gnomonv1.AttemptStatus_OUTCOME_UNSPECIFIED {
		return "running"
	}
	return attempt.GetOutcome().String()
}

// condition is TYPE=STATUS (REASON): message.
func condition(c *gnomonv1.Condition) string {
	text := c.GetType() + "=" + c.GetStatus().String()
	if c.GetReason() != "" {
		text += " (" + c.GetReason() + ")"
	}
	return joinNonEmpty(": ", text, c.GetMessage())
}
