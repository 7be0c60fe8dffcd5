package outbound

import (
	"strings"
	"unicode/utf8"
)

// Shorten makes any text fit to be kept and shown: valid UTF-8, since protobuf refuses
// anything else, and at most so many bytes. What was cut ends in "…"; runs of invalid
// bytes become one U+FFFD.
func Shorten(text string, most int) string {
	const mark = "…"
	text = strings.ToValidUTF8(text, string(utf8.RuneError))
	if len(text) <= most {
		return text
	}
	end := most - len(mark)
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + mark
}
