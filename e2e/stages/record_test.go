package stages

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// What a line of a stage's record is about.
const (
	asked  = "asked"  // ShouldProcess, when it was answered
	began  = "began"  // Process was called
	ended  = "ended"  // Process answered
	saved  = "saved"  // OnSaved
	killed = "killed" // its server, whose process id is the call
)

// line is one of the append-only record that a server of stages keeps.
type line struct {
	What string `json:"what"`
	At   int64  `json:"at"` // nanoseconds by the machine's clock
	// Call is the same for began and ended.
	Call    string         `json:"call,omitempty"`
	Stage   string         `json:"stage"`
	ID      string         `json:"id"`
	Version int64          `json:"version,omitempty"`
	Content map[string]any `json:"content,omitempty"`
	// State is what came with the call, parsed; StateVersion is 0 for none.
	State        map[string]any `json:"state,omitempty"`
	StateVersion int64          `json:"stateVersion,omitempty"`
	Visit        string         `json:"visit,omitempty"`
	// Answer is what the call was answered.
	Answer string `json:"answer,omitempty"`
	// By is the stage whose commit was saved.
	By       string `json:"by,omitempty"`
	Sequence int64  `json:"sequence,omitempty"`
	Changed  bool   `json:"changed,omitempty"`
}

// recorder appends lines, each by one write: what was written outlives a kill.
type recorder struct {
	mu   sync.Mutex
	file *os.File
	last int
}

func openRecorder(path string) (*recorder, error) {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	return &recorder{file: f}, nil
}

func (r *recorder) write(l line) {
	if l.At == 0 {
		l.At = time.Now().UnixNano()
	}
	text, err := json.Marshal(l)
	if err != nil {
		panic(err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, err := r.file.Write(append(text, '\n')); err != nil {
		panic(err)
	}
}

// call is a name that no other call has.
func (r *recorder) call() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last++
	return fmt.Sprintf("%d-%d", os.Getpid(), r.last)
}

// of is a line with what a call was given.
func of(what, stage string, e *gnomonv1.Entity, s *gnomonv1.StageState) line {
	return line{
		What: what, Stage: stage, ID: e.GetId(), Version: e.GetVersion(), Content: e.GetContent().AsMap(),
		State: stateOf(s), StateVersion: s.GetVersion(),
	}
}

// stateOf is what a state of these stages holds, nil for none.
func stateOf(s *gnomonv1.StageState) map[string]any {
	if s.GetState() == nil {
		return nil
	}
	held := &structpb.Struct{}
	if err := s.GetState().UnmarshalTo(held); err != nil {
		return map[string]any{"unreadable": err.Error() + string(proto.MessageName(s.GetState()))}
	}
	return held.AsMap()
}

// readRecords reads the records of all servers in a directory, in the order of time.
func readRecords(dir string) ([]line, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err != nil {
		return nil, err
	}
	var all []line
	for _, path := range paths {
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		in := bufio.NewReader(f)
		for {
			text, err := in.ReadString('\n')
			if err != nil {
				break // the last line may be half written
			}
			var l line
			if err := json.Unmarshal([]byte(strings.TrimSpace(text)), &l); err != nil {
				return nil, fmt.Errorf("%s: %w: %s", path, err, text)
			}
			all = append(all, l)
		}
		if err := f.Close(); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(all, func(a, b line) int { return cmp.Compare(a.At, b.At) })
	return all, nil
}
