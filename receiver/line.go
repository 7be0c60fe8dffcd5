package receiver

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// How much is shown, in characters.
const (
	shownBody = 80
	shownName = 200
)

// Line is the arrival for people, in one line without its end, such as
//
//	10:00:00.012  POST /hello  action=hello attempt=1 due=10:00:00.000 late=12ms  {"hello":"world"}
//
// with batch= and change= instead of action= for a change of a batch, and status=503 after late where the answer is not 2xx. Times are in zone; a due
// time of another day has its date. Of the body the first 80 characters are shown;
// no control character of the request gets through.
func (a Arrival) Line(zone *time.Location) string {
	const clock = "15:04:05.000"
	at := a.Time.In(zone)
	fields := []string{at.Format(clock), a.Method + " " + printable(a.Path, shownName)}

	var facts []string
	if a.ActionID != "" {
		facts = append(facts, "action="+printable(a.ActionID, shownName))
	}
	if a.BatchID != "" {
		facts = append(facts, "batch="+printable(a.BatchID, shownName)+" change="+printable(a.ChangeIndex, shownName))
	}
	if a.Attempt > 0 {
		facts = append(facts, fmt.Sprint("attempt=", a.Attempt))
	}
	if !a.ScheduledAt.IsZero() {
		due, layout := a.ScheduledAt.In(zone), clock
		if due.Format(time.DateOnly) != at.Format(time.DateOnly) {
			layout = "2006-01-02T" + clock
		}
		facts = append(facts, "due="+due.Format(layout), fmt.Sprint("late=", a.Late().Round(time.Millisecond)))
	}
	if a.Status < 200 || a.Status > 299 {
		facts = append(facts, fmt.Sprint("status=", a.Status))
	}
	if len(facts) > 0 {
		fields = append(fields, strings.Join(facts, " "))
	}
	if len(a.Body) > 0 {
		fields = append(fields, printable(string(bytes.TrimSpace(a.Body)), shownBody))
	}
	return strings.Join(fields, "  ")
}

// printable is the first limit characters of the text, with a space for each that
// would move the cursor or is not text; "…" ends what was cut.
func printable(text string, limit int) string {
	var b strings.Builder
	n := 0
	for _, r := range text {
		if n++; n > limit {
			b.WriteRune('…')
			break
		}
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			r = ' '
		}
		b.WriteRune(r)
	}
	return b.String()
}

// statusText is the body of an answer that has no other.
func statusText(status int) string {
	if text := http.StatusText(status); text != "" {
		return text + "\n"
	}
	return fmt.Sprintln("status", status)
}
