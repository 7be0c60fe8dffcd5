package cli

import (
	"strconv"
	"strings"
	"unicode"
)

// visible makes text that came from elsewhere (replies, errors, ids) safe to show:
// control characters could repaint or reprogram a terminal.
func visible(text string) string {
	if strings.IndexFunc(text, isHidden) < 0 {
		return text
	}
	var out strings.Builder
	for _, r := range text {
		if isHidden(r) {
			quoted := strconv.QuoteRune(r)
			out.WriteString(quoted[1 : len(quoted)-1])
			continue
		}
		out.WriteRune(r)
	}
	return out.String()
}

func isHidden(r rune) bool { return !unicode.IsPrint(r) }

// shortened cuts text to at most limit runes.
func shortened(text string, limit int) string {
	runes := []rune(text)
	if len(runes) <= limit {
		return text
	}
	return string(runes[:limit-1]) + "…"
}
