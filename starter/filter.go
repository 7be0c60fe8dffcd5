package starter

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"go.einride.tech/aip/filtering"
	expr "google.golang.org/genproto/googleapis/api/expr/v1alpha1"

	"gnomon/action"
	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/store"
)

// Limits of a filter.
const (
	// maxFilterBytes bounds the text, so that parsing stays cheap.
	maxFilterBytes = 2000
	// maxFilterParens bounds the nesting: the parser is recursive.
	maxFilterParens = 32
)

// filterFields is what a filter over one kind of work may name.
type filterFields struct {
	// known is for people.
	known string
	// states by their names.
	states map[string]int32
	// kinds by their names; nil where there is no such field.
	kinds map[string]bool
}

// actionFields are those of ListActionsRequest.filter. The kinds are the cases of
// Action.action, so that a new one is known here by itself (M-02).
var actionFields = filterFields{
	known:  "state, kind, id, labels.KEY and scheduled_at",
	states: namedStates(gnomonv1.Status_State_value),
	kinds: func() map[string]bool {
		cases := (&gnomonv1.Action{}).ProtoReflect().Descriptor().Oneofs().ByName("action").Fields()
		kinds := make(map[string]bool, cases.Len())
		for i := range cases.Len() {
			kinds[string(cases.Get(i).Name())] = true
		}
		return kinds
	}(),
}

// batchFields are those of ListBatchesRequest.filter.
var batchFields = filterFields{
	known:  "state, id, labels.KEY and scheduled_at",
	states: namedStates(gnomonv1.BatchStatus_State_value),
}

// namedStates are the states that a filter may name: all but the one that is none.
func namedStates(all map[string]int32) map[string]int32 {
	states := maps.Clone(all)
	maps.DeleteFunc(states, func(_ string, number int32) bool { return number == 0 })
	return states
}

// selection is what a filter says.
type selection struct {
	state              *int32
	kind               string
	labels             map[string]string
	id, idPrefix       string
	dueFrom, dueBefore time.Time
}

// filterReader collects the conditions of a filter.
type filterReader struct {
	fields filterFields
	query  selection
	seen   map[string]bool
}

// readFilter reads the AIP-160 subset that ListActionsRequest.filter documents into q. A
// filter that is broken or says what a query cannot express is INVALID_ARGUMENT on the
// field "filter" with the rule it breaks; q is then as it was. Bounds that contradict each
// other are fine and select nothing.
func readFilter(filter string, q *store.ActionQuery) error {
	s, err := selected(filter, actionFields)
	if err != nil {
		return err
	}
	if s.state != nil {
		q.States = []gnomonv1.Status_State{gnomonv1.Status_State(*s.state)}
	}
	if s.kind != "" {
		q.Kinds = []string{s.kind}
	}
	q.Labels, q.ID, q.IDPrefix, q.DueFrom, q.DueBefore = s.labels, s.id, s.idPrefix, s.dueFrom, s.dueBefore
	return nil
}

// readBatchFilter reads ListBatchesRequest.filter as readFilter does.
func readBatchFilter(filter string, q *store.BatchQuery) error {
	s, err := selected(filter, batchFields)
	if err != nil {
		return err
	}
	if s.state != nil {
		q.States = []gnomonv1.BatchStatus_State{gnomonv1.BatchStatus_State(*s.state)}
	}
	q.Labels, q.ID, q.IDPrefix, q.DueFrom, q.DueBefore = s.labels, s.id, s.idPrefix, s.dueFrom, s.dueBefore
	return nil
}

// selected parses a filter over these fields.
func selected(filter string, fields filterFields) (selection, error) {
	if strings.TrimSpace(filter) == "" {
		return selection{}, nil
	}
	if len(filter) > maxFilterBytes {
		return selection{}, badFilter(action.RuleTooLong, fmt.Sprintf("must be at most %d bytes, is %d", maxFilterBytes, len(filter)))
	}
	if strings.Count(filter, "(") > maxFilterParens {
		return selection{}, badFilter(ruleTooNested, fmt.Sprintf("must have at most %d parentheses", maxFilterParens))
	}
	var parser filtering.Parser
	parser.Init(filter)
	parsed, err := parser.Parse()
	if err != nil {
		return selection{}, badFilter(ruleSyntax, syntaxRule(err))
	}
	reader := filterReader{fields: fields, seen: map[string]bool{}}
	err = reader.condition(parsed.GetExpr())
	return reader.query, err
}

// condition reads one comparison, or several that are joined by AND.
func (r *filterReader) condition(e *expr.Expr) error {
	call := e.GetCallExpr()
	if call == nil {
		return badFilter(ruleSyntax, "must be comparisons such as state = \"SCHEDULED\", joined by AND; a word alone is none")
	}
	switch function := call.GetFunction(); function {
	case filtering.FunctionAnd:
		for _, part := range call.GetArgs() {
			if err := r.condition(part); err != nil {
				return err
			}
		}
		return nil
	case filtering.FunctionFuzzyAnd:
		return badFilter(ruleSyntax, "comparisons must be joined by AND; text with spaces or signs must be quoted")
	case filtering.FunctionOr, filtering.FunctionNot:
		return badFilter(action.RuleUnsupported, function+" is not supported; comparisons can only be joined by AND")
	case filtering.FunctionEquals, filtering.FunctionNotEquals, filtering.FunctionHas,
		filtering.FunctionLessThan, filtering.FunctionLessEquals,
		filtering.FunctionGreaterThan, filtering.FunctionGreaterEquals:
		if len(call.GetArgs()) != 2 {
			return badFilter(ruleSyntax, "a comparison must have two sides")
		}
		return r.comparison(function, call.GetArgs()[0], call.GetArgs()[1])
	default:
		return badFilter(action.RuleUnsupported, fmt.Sprintf("function %q is not supported", clip(function, 64)))
	}
}

// comparison reads field, operator and value.
func (r *filterReader) comparison(operator string, left, right *expr.Expr) error {
	path := fieldPath(left)
	if len(path) == 0 {
		return badFilter(ruleUnknownField, "the left side of a comparison must be a field")
	}
	value, ok := textValue(right)
	if !ok {
		return badFilter(ruleBadValue, "the right side of a comparison must be text in quotes")
	}
	name := strings.Join(path, ".")
	if path[0] == "labels" && len(path) > 1 {
		return r.label(name, strings.Join(path[1:], "."), operator, value)
	}
	switch {
	case name == "state":
		return r.state(operator, value)
	case name == "kind" && r.fields.kinds != nil:
		return r.kind(operator, value)
	case name == "id":
		return r.id(operator, value)
	case name == "scheduled_at":
		return r.scheduledAt(operator, value)
	default:
		return badFilter(ruleUnknownField, fmt.Sprintf("unknown field %q; known are %s", clip(name, 64), r.fields.known))
	}
}

func (r *filterReader) state(operator, value string) error {
	state, ok := r.fields.states[value]
	if !ok {
		return badFilter(ruleUnknownState, fmt.Sprintf("unknown state %q; known are %s", clip(value, 64), sortedNames(r.fields.states)))
	}
	r.query.state = &state
	return r.once("state", operator)
}

func (r *filterReader) kind(operator, value string) error {
	if !r.fields.kinds[value] {
		return badFilter(ruleUnknownKind, fmt.Sprintf("unknown kind %q; known are %s", clip(value, 64), sortedNames(r.fields.kinds)))
	}
	r.query.kind = value
	return r.once("kind", operator)
}

func (r *filterReader) id(operator, value string) error {
	prefix, open := strings.CutSuffix(value, "*")
	switch {
	case strings.Contains(prefix, "*"):
		return badFilter(ruleBadValue, "an id may have one *, at its end")
	case value == "":
		return badFilter(ruleBadValue, "an id must not be empty")
	case open:
		r.query.idPrefix = prefix
	default:
		r.query.id = value
	}
	return r.once("id", operator)
}

func (r *filterReader) label(name, key, operator, value string) error {
	if r.query.labels == nil {
		r.query.labels = map[string]string{}
	}
	r.query.labels[key] = value
	return r.once(name, operator)
}

// scheduledAt narrows the bounds. A stored time has microseconds, so a bound
// between two of them moves to the next one.
func (r *filterReader) scheduledAt(operator, value string) error {
	at, err := time.Parse(time.RFC3339Nano, value)
	if err != nil || at.Before(time.Unix(0, 0)) || at.UTC().Year() > 9999 {
		return badFilter(action.RuleInvalidTimestamp, "a time must be RFC 3339 between the years 1970 and 9999, such as \"2026-11-21T10:00:00Z\"")
	}
	floor := at.UTC().Truncate(time.Microsecond)
	after := floor.Add(time.Microsecond)
	from := floor
	if !floor.Equal(at) {
		from = after
	}
	switch operator {
	case filtering.FunctionLessThan:
		r.before(from)
	case filtering.FunctionLessEquals:
		r.before(after)
	case filtering.FunctionGreaterEquals:
		r.from(from)
	case filtering.FunctionGreaterThan:
		r.from(after)
	default:
		return badOperator("scheduled_at", operator, "<, <=, > and >=")
	}
	return nil
}

func (r *filterReader) from(t time.Time) {
	if t.After(r.query.dueFrom) {
		r.query.dueFrom = t
	}
}

func (r *filterReader) before(t time.Time) {
	if r.query.dueBefore.IsZero() || t.Before(r.query.dueBefore) {
		r.query.dueBefore = t
	}
}

// once holds that a field is compared by = and only once: two values could not
// both hold.
func (r *filterReader) once(field, operator string) error {
	if operator != filtering.FunctionEquals {
		return badOperator(field, operator, "=")
	}
	if r.seen[field] {
		return badFilter(ruleRepeated, fmt.Sprintf("%s must be compared only once", clip(field, 64)))
	}
	r.seen[field] = true
	return nil
}

// fieldPath is the parts of a field such as labels.team, or nil.
func fieldPath(e *expr.Expr) []string {
	switch kind := e.GetExprKind().(type) {
	case *expr.Expr_IdentExpr:
		return []string{kind.IdentExpr.GetName()}
	case *expr.Expr_SelectExpr:
		if parent := fieldPath(kind.SelectExpr.GetOperand()); parent != nil {
			return append(parent, kind.SelectExpr.GetField())
		}
	}
	return nil
}

// textValue is the text of a value, quoted or a bare word.
func textValue(e *expr.Expr) (string, bool) {
	switch kind := e.GetExprKind().(type) {
	case *expr.Expr_IdentExpr:
		return kind.IdentExpr.GetName(), true
	case *expr.Expr_ConstExpr:
		if text, ok := kind.ConstExpr.GetConstantKind().(*expr.Constant_StringValue); ok {
			return text.StringValue, true
		}
	}
	return "", false
}

// syntaxRule is the parser's innermost complaint with its place; the whole chain
// repeats the filter once for each level.
func syntaxRule(err error) string {
	rule := "must be comparisons joined by AND"
	for ; err != nil; err = errors.Unwrap(err) {
		place, ok := err.(interface {
			Position() filtering.Position
			Message() string
		})
		if ok {
			rule = fmt.Sprintf("cannot be read at column %d: %s; text must be quoted", place.Position().Column, clip(place.Message(), 128))
		}
	}
	return rule
}

// sortedNames lists the keys of a table for people.
func sortedNames[V any](table map[string]V) string {
	return strings.Join(slices.Sorted(maps.Keys(table)), ", ")
}

func badOperator(field, operator, known string) error {
	return badFilter(ruleBadOperator, fmt.Sprintf("%s does not know %s, only %s", clip(field, 64), operator, known))
}

func badFilter(rule, description string) error {
	return invalidField("filter", rule, description)
}
