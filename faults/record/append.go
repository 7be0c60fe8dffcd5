package record

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
)

// Log is an append-only file of JSON lines. It may be used concurrently.
type Log struct {
	mu   sync.Mutex
	file *os.File
	err  error
}

// OpenLog opens a file of a directory to append to.
func OpenLog(dir, name string) (*Log, error) {
	f, err := os.OpenFile(filepath.Join(dir, name), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	return &Log{file: f}, nil
}

// Add appends one line. What could not be written is told by Close.
func (l *Log) Add(v any) {
	line, err := json.Marshal(v)
	l.mu.Lock()
	defer l.mu.Unlock()
	if err == nil {
		// One Write, so that a process that dies leaves whole lines.
		_, err = l.file.Write(append(line, '\n'))
	}
	l.err = errors.Join(l.err, err)
}

// Close closes the file and says whether all lines were written.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return errors.Join(l.err, l.file.Close())
}

// Read gives all lines of a file; a file that is not there has none.
func Read[T any](dir, name string) ([]T, error) {
	f, err := os.Open(filepath.Join(dir, name))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var all []T
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		var v T
		if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
			return nil, fmt.Errorf("%s, line %d: %w", name, n, err)
		}
		all = append(all, v)
	}
	return all, lines.Err()
}

// WriteRun writes run.json.
func WriteRun(dir string, r Run) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, RunFile), append(text, '\n'), 0o600)
}

// ReadRun reads run.json.
func ReadRun(dir string) (Run, error) {
	var r Run
	text, err := os.ReadFile(filepath.Join(dir, RunFile))
	if err != nil {
		return r, err
	}
	return r, json.Unmarshal(text, &r)
}
