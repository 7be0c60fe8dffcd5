package rule

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// ID checks an id: 1 to 200 bytes of ASCII letters, digits, '-', '_', '.', ':' and '~',
// not starting with '.' (M-06).
func (v *Violations) ID(field, id string) {
	switch {
	case id == "":
		v.Add(field, Required, "id must be set")
		return
	case len(id) > MaxIDLength:
		v.Add(field, TooLong, "id is %d bytes long, at most %d are allowed", len(id), MaxIDLength)
	}
	switch {
	case strings.ContainsFunc(id, func(r rune) bool { return !isLetter(r) && !isDigit(r) && !strings.ContainsRune("-_.:~", r) }):
		v.Add(field, InvalidCharacter, "id may have ASCII letters, digits, '-', '_', '.', ':' and '~' only")
	case id[0] == '.':
		v.Add(field, InvalidCharacter, "id must not start with '.'")
	}
}

// Labels checks labels, ordered by key: at most 32; keys have 1 to 63 bytes of lower-case
// ASCII letters, digits, '-', '_' and '.' and start with a letter; values have at most 255
// bytes.
func (v *Violations) Labels(field string, labels map[string]string) {
	if len(labels) > MaxLabels {
		v.Add(field, TooMany, "there are %d labels, at most %d are allowed", len(labels), MaxLabels)
		return
	}
	for _, key := range sortedKeys(labels) {
		v.label(entry(field, key), key, labels[key])
	}
}

func (v *Violations) label(field, key, value string) {
	switch {
	case key == "":
		v.Add(field, Required, "the key of a label must not be empty")
	case len(key) > MaxLabelKeyLength:
		v.Add(field, TooLong, "the key of a label is %d bytes long, at most %d are allowed", len(key), MaxLabelKeyLength)
	case !isLower(rune(key[0])) || strings.ContainsFunc(key, func(r rune) bool { return !isLower(r) && !isDigit(r) && !strings.ContainsRune("-_.", r) }):
		v.Add(field, InvalidCharacter, "the key of a label must start with a lower-case ASCII letter and may have these, digits, '-', '_' and '.' only")
	}
	if len(value) > MaxLabelValueLength {
		v.Add(field, TooLong, "the value of a label is %d bytes long, at most %d are allowed", len(value), MaxLabelValueLength)
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
