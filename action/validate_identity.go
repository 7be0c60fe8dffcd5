package action

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// ValidateID returns what is wrong with the id of an action; field is the path to
// name in the violations. An id has 1 to 200 bytes of ASCII letters, digits, '-',
// '_', '.', ':' and '~', and does not start with '.' (M-06).
func ValidateID(field, id string) []Violation {
	var v violations
	v.id(field, id)
	return v
}

// ValidateLabels returns what is wrong with the labels of an action, ordered by key;
// field is the path to name in the violations. There are at most 32; keys have 1 to
// 63 bytes of lower-case ASCII letters, digits, '-', '_' and '.' and start with a
// letter; values have at most 255 bytes.
func ValidateLabels(field string, labels map[string]string) []Violation {
	var v violations
	v.labels(field, labels)
	return v
}

func (v *violations) id(field, id string) {
	switch {
	case id == "":
		v.add(field, RuleRequired, "id must be set")
		return
	case len(id) > MaxIDLength:
		v.add(field, RuleTooLong, "id is %d bytes long, at most %d are allowed", len(id), MaxIDLength)
	}
	switch {
	case strings.ContainsFunc(id, func(r rune) bool { return !isLetter(r) && !isDigit(r) && !strings.ContainsRune("-_.:~", r) }):
		v.add(field, RuleInvalidCharacter, "id may have ASCII letters, digits, '-', '_', '.', ':' and '~' only")
	case id[0] == '.':
		v.add(field, RuleInvalidCharacter, "id must not start with '.'")
	}
}

func (v *violations) labels(field string, labels map[string]string) {
	if len(labels) > MaxLabels {
		v.add(field, RuleTooMany, "there are %d labels, at most %d are allowed", len(labels), MaxLabels)
		return
	}
	for _, key := range sortedKeys(labels) {
		v.label(entry(field, key), key, labels[key])
	}
}

func (v *violations) label(field, key, value string) {
	switch {
	case key == "":
		v.add(field, RuleRequired, "the key of a label must not be empty")
	case len(key) > MaxLabelKeyLength:
		v.add(field, RuleTooLong, "the key of a label is %d bytes long, at most %d are allowed", len(key), MaxLabelKeyLength)
	case !isLower(rune(key[0])) || strings.ContainsFunc(key, func(r rune) bool { return !isLower(r) && !isDigit(r) && !strings.ContainsRune("-_.", r) }):
		v.add(field, RuleInvalidCharacter, "the key of a label must start with a lower-case ASCII letter and may have these, digits, '-', '_' and '.' only")
	}
	if len(value) > MaxLabelValueLength {
		v.add(field, RuleTooLong, "the value of a label is %d bytes long, at most %d are allowed", len(value), MaxLabelValueLength)
	}
}

func isLower(r rune) bool  { return 'a' <= r && r <= 'z' }
func isLetter(r rune) bool { return isLower(r) || 'A' <= r && r <= 'Z' }
func isDigit(r rune) bool  { return '0' <= r && r <= '9' }

// sortedKeys makes the order of violations the same in every run. The checker sees
// the walk over the map and not that its result is sorted.
//
//workflowcheck:ignore
func sortedKeys(m map[string]string) []string {
	return slices.Sorted(maps.Keys(m))
}

// maxKeyShown is in bytes, of a map's key in the path of a field.
const maxKeyShown = 100

// entry returns the path of a map's entry. A key that is no good may be of any
// length and content.
func entry(field, key string) string {
	if len(key) > maxKeyShown {
		cut := maxKeyShown
		for cut > 0 && !utf8.RuneStart(key[cut]) {
			cut--
		}
		key = key[:cut] + "…"
	}
	return field + "[" + strconv.Quote(key) + "]"
}
