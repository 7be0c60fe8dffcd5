package httpchange

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode"

	"gnomon/changes"
)

// maxText is how much of a service's own words is shown, in bytes.
const maxText = 512

// Apply implements changes.Kind by one POST to apply_url.
func (k *Kind) Apply(ctx context.Context, of changes.Batch, s changes.Subject, t changes.Turn) error {
	if err := t.Check(); err != nil {
		return err
	}
	r, err := k.post(ctx, s.Change.GetHttpChange().GetApplyUrl(), of, s, maxText, func(h http.Header) {
		h.Set("Idempotency-Key", t.Key)
		h.Set("Gnomon-Attempt", strconv.FormatUint(uint64(t.Attempt), 10))
		h.Set("Gnomon-Scheduled-At", of.ScheduledAt.UTC().Format(time.RFC3339Nano))
		h.Set("Gnomon-Expires", t.Expires.UTC().Format(time.RFC3339Nano))
	})
	switch {
	case err != nil:
		return err
	case r.Status >= 200 && r.Status <= 299:
		// It is done, whether or not the reply's body broke off.
		return nil
	case refused(r.Status):
		return changes.Reject(fmt.Errorf("%w%s", unanswered(r), words(r.Body)))
	default:
		return unanswered(r)
	}
}

// words are what a service said, fit to be shown after a colon.
func words(body []byte) string {
	if text := plain(string(body)); text != "" {
		return ": " + text
	}
	return ""
}

// plain is a text on one line of characters that can be seen.
func plain(text string) string {
	return strings.Join(strings.FieldsFunc(strings.ToValidUTF8(text, ""), func(r rune) bool { return !unicode.IsGraphic(r) || unicode.IsSpace(r) }), " ")
}
