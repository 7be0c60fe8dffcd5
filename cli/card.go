package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/goccy/go-yaml"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// card is one action for people: where it stands, what happened, what was asked
// for. It ends without a line feed.
func (p *printer) card(action *gnomonv1.ScheduledAction) string {
	meta, spec, st := action.GetMeta(), action.GetSpec(), action.GetStatus()
	var b cardBuilder
	b.line(p.style.heading(visible(meta.GetId())))
	b.field("State", p.style.state(st.GetState()))
	if !finished(st.GetState()) {
		b.field("Due", p.moment.full(st.GetScheduledAt()))
	}
	b.field("Action", visible(joinNonEmpty("  ", kind(spec.GetAction()), summary(spec.GetAction()))))
	b.field("Repeats", visible(repetition(spec.GetSendPolicy())))
	b.field("Deadline", p.moment.full(spec.GetSendPolicy().GetDeadline()))
	b.field("Attempts", fmt.Sprintf("%d succeeded, %d failed, %d interrupted; %d failures in a row",
		st.GetSuccessfulAttemptsCounter(), st.GetFailedAttemptsCounter(),
		st.GetInterruptedAttemptsCounter(), st.GetConsecutiveFailuresCounter()))
	p.attempt(&b, "Current", st.GetCurrentAttemptStatus())
	p.attempt(&b, "Last", st.GetLastAttemptStatus())
	for _, c := range st.GetConditions() {
		b.field("Condition", visible(condition(c)))
	}
	for _, key := range slices.Sorted(maps.Keys(meta.GetLabels())) {
		b.field("Label", visible(key+"="+meta.GetLabels()[key]))
	}
	b.field("Guid", visible(meta.GetGuid()))
	b.field("Created", p.moment.both(meta.GetCreateTime()))
	if !meta.GetUpdateTime().AsTime().Equal(meta.GetCreateTime().AsTime()) {
		b.field("Updated", p.moment.both(meta.GetUpdateTime()))
	}
	b.line(p.style.heading("Spec"))
	for line := range strings.Lines(readableSpec(spec)) {
		b.line("  " + strings.TrimRight(line, "\n"))
	}
	return fit(b.text.String(), p.width)
}

func (p *printer) attempt(b *cardBuilder, name string, attempt *gnomonv1.AttemptStatus) {
	if attempt == nil {
		return
	}
	text := fmt.Sprintf("#%d of %s, %s", attempt.GetAttempt(), utc(attempt.GetOccurrence().AsTime()), outcomeName(attempt))
	if attempt.GetFinishTime() != nil && attempt.GetStartTime() != nil {
		took := attempt.GetFinishTime().AsTime().Sub(attempt.GetStartTime().AsTime())
		text += fmt.Sprintf(" after %s, %s", took, p.moment.relative(attempt.GetFinishTime().AsTime()))
	} else if attempt.GetStartTime() != nil {
		text += ", began " + p.moment.relative(attempt.GetStartTime().AsTime())
	}
	b.field(name, text)
	b.field("  error", visible(attempt.GetError()))
	b.field("  reply", visible(attempt.GetReply()))
	b.field("  worker", visible(attempt.GetWorker()))
}

// cardBuilder aligns names and values.
type cardBuilder struct{ text strings.Builder }

func (b *cardBuilder) line(text string) { b.text.WriteString(text + "\n") }

// field leaves out what is empty.
func (b *cardBuilder) field(name, value string) {
	if value != "" {
		b.line(fmt.Sprintf("  %-10s %s", name, value))
	}
}

// readableSpec is the spec as YAML, except that a body or payload that is text is
// shown as text and not as the base64 of proto3 JSON.
func readableSpec(spec *gnomonv1.Spec) string {
	tree, err := orderedTree(spec)
	if err != nil {
		return visible(err.Error())
	}
	showText(tree, spec.GetAction().GetHttpRequest().GetBody(), "action", "httpRequest", "body")
	showText(tree, spec.GetAction().GetSendTechnicalPush().GetPayload(), "action", "sendTechnicalPush", "payload")
	out, err := marshalTree(tree, yaml.UseSingleQuote(true), yaml.UseLiteralStyleIfMultiline(true))
	if err != nil {
		return visible(err.Error())
	}
	var lines []string
	for line := range strings.Lines(string(out)) {
		lines = append(lines, visible(strings.TrimRight(line, "\n")))
	}
	return strings.Join(lines, "\n")
}

// showText puts text in the place of the value at path, where there is one.
func showText(tree any, text []byte, path ...string) {
	fields, ok := tree.(yaml.MapSlice)
	if !ok || len(path) == 0 || !utf8.Valid(text) || strings.ContainsFunc(string(text), unprintable) {
		return
	}
	name, rest := path[0], path[1:]
	for i, field := range fields {
		switch {
		case field.Key != name:
		case len(rest) == 0:
			fields[i].Value = string(text)
		default:
			showText(field.Value, text, rest...)
		}
	}
}

func unprintable(r rune) bool { return !unicode.IsPrint(r) && r != '\n' && r != '\t' }
