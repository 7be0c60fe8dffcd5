package performers

import "gnomon/outbound"

// MaxTextBytes is how much is kept of an error or a reply in an attempt's status:
// 1 KiB of UTF-8 (AttemptStatus.error, AttemptStatus.reply).
const MaxTextBytes = 1 << 10

// Shorten makes any text fit for an attempt's status: valid UTF-8, and at most
// [MaxTextBytes] bytes.
func Shorten(text string) string { return outbound.Shorten(text, MaxTextBytes) }
