package playbook

import (
	"fmt"
	"strings"
)

// names returns the names that a template uses, or what is wrong with it: ${name} is a
// name, $$ a dollar sign, and any other $ a mistake.
func names(template string) ([]string, error) {
	var found []string
	_, err := walk(template, func(name string) string {
		found = append(found, name)
		return ""
	})
	return found, err
}

// expander fills templates in that names has no fault to find with; what it does not
// know becomes empty.
func expander(values map[string]string) func(string) string {
	return func(template string) string {
		filled, _ := walk(template, func(name string) string { return values[name] })
		return filled
	}
}

// walk replaces the names of a template, once: what it puts in is not looked at again.
func walk(template string, value func(string) string) (string, error) {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(template, "$")
		b.WriteString(before)
		if !found {
			return b.String(), nil
		}
		switch {
		case strings.HasPrefix(after, "$"):
			b.WriteByte('$')
			template = after[1:]
		case strings.HasPrefix(after, "{"):
			name, rest, closed := strings.Cut(after[1:], "}")
			if !closed || !isName(name) {
				return "", fmt.Errorf("a ${ needs a name of letters, digits and '_', and a }")
			}
			b.WriteString(value(name))
			template = rest
		default:
			return "", fmt.Errorf("a $ must be followed by {name} or another $")
		}
	}
}

func isName(s string) bool {
	if s == "" {
		return false
	}
	for i, r := range s {
		letter := r == '_' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
		if !letter && (i == 0 || r < '0' || '9' < r) {
			return false
		}
	}
	return true
}
