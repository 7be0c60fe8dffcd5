package processes

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// Lines is what a process wrote, line by line, for those who wait for a line.
type Lines struct {
	mu      sync.Mutex
	partial bytes.Buffer
	all     []string
	changed chan struct{} // closed and replaced with every line
}

func newLines() *Lines { return &Lines{changed: make(chan struct{})} }

// Write implements io.Writer.
func (l *Lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.partial.Write(p)
	for {
		line, rest, ok := bytes.Cut(l.partial.Bytes(), []byte("\n"))
		if !ok {
			return len(p), nil
		}
		l.all = append(l.all, string(line))
		kept := bytes.Clone(rest)
		l.partial.Reset()
		l.partial.Write(kept)
		close(l.changed)
		l.changed = make(chan struct{})
	}
}

// Text is all of it, an unfinished line included.
func (l *Lines) Text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(append(slices.Clip(l.all), l.partial.String()), "\n")
}

// Tail is the last n lines.
func (l *Lines) Tail(n int) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.all[max(0, len(l.all)-n):], "\n")
}

// wait returns the first line, past or to come, that holds a text.
func (l *Lines) wait(ctx context.Context, ended <-chan struct{}, want string) (string, error) {
	seen := 0
	for {
		l.mu.Lock()
		fresh, changed := l.all[seen:], l.changed
		l.mu.Unlock()
		for _, line := range fresh {
			if strings.Contains(line, want) {
				return line, nil
			}
		}
		seen += len(fresh)
		select {
		case <-changed:
		case <-ctx.Done():
			return "", fmt.Errorf("no line with %q: %w", want, ctx.Err())
		case <-ended:
			// What it wrote last is all here: exec waits for it.
			l.mu.Lock()
			more := len(l.all) > seen
			l.mu.Unlock()
			if !more {
				return "", fmt.Errorf("it ended without a line with %q", want)
			}
		}
	}
}
