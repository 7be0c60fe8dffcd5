package ydbdouble

import (
	"fmt"
	"slices"
	"strings"
)

// tokenKind is what a token is.
type tokenKind int

const (
	word      tokenKind = iota // a keyword or a name
	quoted                     // a name in backticks
	parameter                  // a name after a dollar sign
	number
	text // a literal, without its quotes
	mark // punctuation and operators
)

// token is the smallest part of a script.
type token struct {
	kind tokenKind
	text string
}

// is says whether the token is this keyword or mark, in any case.
func (t token) is(s string) bool {
	return (t.kind == word || t.kind == mark) && strings.EqualFold(t.text, s)
}

// The marks there are, and those of two.
const marks = "(),;.=<>!?*:"

var operators = []string{"!=", "<=", ">="}

// lex takes a script apart and leaves out comments.
func lex(s string) ([]token, error) {
	var tokens []token
	for len(s) > 0 {
		c := s[0]
		switch {
		case strings.ContainsRune(" \t\r\n", rune(c)):
			s = s[1:]
		case strings.HasPrefix(s, "--"):
			_, s, _ = strings.Cut(s, "\n")
		case c == '"' || c == '\'':
			literal, rest, ok := strings.Cut(s[1:], string(c))
			if !ok || strings.Contains(literal, `\`) {
				return nil, fmt.Errorf("a literal that does not end or has a backslash: %.20s", s)
			}
			tokens, s = append(tokens, token{text, literal}), strings.TrimPrefix(rest, "u")
		case c == '`':
			name, rest, ok := strings.Cut(s[1:], "`")
			if !ok {
				return nil, fmt.Errorf("a name that does not end: %.20s", s)
			}
			tokens, s = append(tokens, token{quoted, name}), rest
		case c == '$' || isNameByte(c):
			n := 1
			for n < len(s) && isNameByte(s[n]) {
				n++
			}
			tokens, s = append(tokens, named(s[:n])), s[n:]
		default:
			n := 1
			if len(s) > 1 && slices.Contains(operators, s[:2]) {
				n = 2
			}
			if !strings.ContainsRune(marks, rune(c)) {
				return nil, fmt.Errorf("the character %q", c)
			}
			tokens, s = append(tokens, token{mark, s[:n]}), s[n:]
		}
	}
	return tokens, nil
}

func isNameByte(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// named is the token of a name, a number or a parameter.
func named(s string) token {
	switch {
	case s[0] == '$':
		return token{parameter, s[1:]}
	case '0' <= s[0] && s[0] <= '9':
		return token{number, s}
	default:
		return token{word, s}
	}
}

// split divides tokens at a mark that is outside of all parentheses.
func split(tokens []token, separator string) [][]token {
	var parts [][]token
	depth, begin := 0, 0
	for i, t := range tokens {
		switch {
		case t.is("("):
			depth++
		case t.is(")"):
			depth--
		case depth == 0 && t.is(separator):
			parts = append(parts, tokens[begin:i])
			begin = i + 1
		}
	}
	return append(parts, tokens[begin:])
}

// closing is where the parenthesis at tokens[open] closes, or -1.
func closing(tokens []token, open int) int {
	depth := 0
	for i := open; i < len(tokens); i++ {
		if tokens[i].is("(") {
			depth++
		}
		if tokens[i].is(")") {
			depth--
			if depth == 0 {
				return i
			}
		}
	}
	return -1
}
