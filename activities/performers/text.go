package performers

import (
	"strings"
	"unicode/utf8"
)

// MaxTextBytes is how much is kept of an error or a reply in an attempt's status:
// 1 KiB of UTF-8 (AttemptStatus.error, AttemptStatus.reply).
const MaxTextBytes = 1 << 10

// Shorten makes any text fit for an attempt's status: valid UTF-8, since protobuf
// refuses anything else, and at most [MaxTextBytes] bytes. What was cut ends in
// "…"; runs of invalid bytes become one U+FFFD.
func Shorten(text string) string {
	const mark = "…"
	text = strings.ToValidUTF8(text, string(utf8.RuneError))
	if len(text) <= MaxTextBytes {
		return text
	}
	end := MaxTextBytes - len(mark)
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + mark
}
