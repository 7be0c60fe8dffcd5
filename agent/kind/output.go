package kind

import (
	"strings"
	"sync"
)

// tail keeps the end of what is written to it.
type tail struct {
	mu      sync.Mutex
	limit   int
	kept    []byte
	dropped uint64
}

func newTail(limit int) *tail { return &tail{limit: limit} }

// Write never fails: a program must not see how much is kept of what it says.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, p...)
	// Twice the limit, so that not every write moves what is kept.
	if len(t.kept) > 2*t.limit {
		t.cut()
	}
	return len(p), nil
}

func (t *tail) cut() {
	if more := len(t.kept) - t.limit; more > 0 {
		t.dropped += uint64(more)
		t.kept = append(t.kept[:0], t.kept[more:]...)
	}
}

// Text is the end of what was written, as valid UTF-8, and how many bytes before it are
// gone.
func (t *tail) Text() (string, uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.cut()
	return strings.ToValidUTF8(string(t.kept), "\uFFFD"), t.dropped
}
