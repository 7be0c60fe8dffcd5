package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"gnomon/notices/channels"
)

// otherSide is that of http_change and of the webhook: it finds problems and
// answers as the test says, and notes what reaches it.
type otherSide struct {
	*httptest.Server

	mu sync.Mutex
	// hard and soft are the problems of each path, answers the statuses of each path that
	// are not 200.
	hard, soft map[string]string
	answers    map[string]int
	// held are paths that answer only once they are released.
	held map[string]chan struct{}

	asked   []string // paths that were validated
	applies []madeChange
	notes   []channels.Message
	under   int // how many applies are under way
	most    int // the greatest number of them at once
	changed chan struct{}
}

// madeChange is a request to make a change.
type madeChange struct {
	path, batch, key, attempt string
	at                        time.Time
}

func serveOtherSide(t *testing.T) *otherSide {
	t.Helper()
	s := &otherSide{
		hard: map[string]string{}, soft: map[string]string{}, answers: map[string]int{}, held: map[string]chan struct{}{},
		changed: make(chan struct{}),
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /validate/{path...}", s.validate)
	mux.HandleFunc("POST /apply/{path...}", s.apply)
	mux.HandleFunc("POST /hook", s.hook)
	s.Server = httptest.NewServer(mux)
	t.Cleanup(func() {
		s.set(func() {
			for _, gate := range s.held {
				select {
				case <-gate:
				default:
					close(gate)
				}
			}
		})
		s.Close()
	})
	return s
}

// set changes how the service behaves, and wakes those who wait.
func (s *otherSide) set(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
	close(s.changed)
	s.changed = make(chan struct{})
}

// hold keeps an apply from ending until the function it returns is called.
func (s *otherSide) hold(path string) (release func()) {
	gate := make(chan struct{})
	s.set(func() { s.held[path] = gate })
	return sync.OnceFunc(func() { s.set(func() { close(gate); delete(s.held, path) }) })
}

func (s *otherSide) validate(w http.ResponseWriter, r *http.Request) {
	path := r.PathValue("path")
	answer := map[string][]map[string]string{"hard": {}, "soft": {}}
	s.set(func() {
		s.asked = append(s.asked, path)
		if code := s.hard[path]; code != "" {
			answer["hard"] = append(answer["hard"], map[string]string{"code": code, "message": "it cannot be"})
		}
		if code := s.soft[path]; code != "" {
			answer["soft"] = append(answer["soft"], map[string]string{"code": code, "message": "look at it"})
		}
	})
	if err := json.NewEncoder(w).Encode(answer); err != nil {
		w.WriteHeader(http.StatusInternalServerError)
	}
}

func (s *otherSide) apply(w http.ResponseWriter, r *http.Request) {
	path, status := r.PathValue("path"), http.StatusOK
	var gate chan struct{}
	s.set(func() {
		s.applies = append(s.applies, madeChange{
			path: path, batch: r.Header.Get("Gnomon-Batch-Id"), key: r.Header.Get("Idempotency-Key"),
			attempt: r.Header.Get("Gnomon-Attempt"), at: time.Now(),
		})
		s.under++
		s.most = max(s.most, s.under)
		gate = s.held[path]
		if other := s.answers[path]; other != 0 {
			status = other
		}
	})
	if gate != nil {
		select {
		case <-gate:
		case <-r.Context().Done():
		}
	}
	s.set(func() { s.under-- })
	w.WriteHeader(status)
}

func (s *otherSide) hook(_ http.ResponseWriter, r *http.Request) {
	var told channels.Message
	_ = json.NewDecoder(r.Body).Decode(&told)
	s.set(func() { s.notes = append(s.notes, told) })
}

// until waits until a fact about what reached the service.
func (s *otherSide) until(t *testing.T, what string, fact func() bool) {
	t.Helper()
	limit := time.NewTimer(startWithin)
	defer limit.Stop()
	for {
		s.mu.Lock()
		yes, changed := fact(), s.changed
		s.mu.Unlock()
		if yes {
			return
		}
		select {
		case <-changed:
		case <-limit.C:
			t.Fatalf("not within %s: %s", startWithin, what)
		}
	}
}

// begun waits until a change is being applied.
func (s *otherSide) begun(t *testing.T, path string) {
	t.Helper()
	s.until(t, path+" is applied", func() bool {
		return slices.ContainsFunc(s.applies, func(a madeChange) bool { return a.path == path })
	})
}

// of are the applies of a batch, in order.
func (s *otherSide) of(batch string) []madeChange {
	s.mu.Lock()
	defer s.mu.Unlock()
	var own []madeChange
	for _, a := range s.applies {
		if a.batch == batch {
			own = append(own, a)
		}
	}
	return own
}

// paths are those of the applies of a batch.
func (s *otherSide) paths(batch string) []string {
	var all []string
	for _, a := range s.of(batch) {
		all = append(all, a.path)
	}
	return all
}

// told are the notes about a batch.
func (s *otherSide) told(batch string) []channels.Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.notesOf(batch)
}

// place is where change n of a batch is.
func place(batch string, n int) string { return fmt.Sprintf("%s/%d", batch, n) }

// notesOf is told for those who hold the lock, in until.
func (s *otherSide) notesOf(batch string) []channels.Message {
	var own []channels.Message
	for _, n := range s.notes {
		if n.BatchID == batch {
			own = append(own, n)
		}
	}
	return own
}

// validated is how often a change was asked about.
func (s *otherSide) validated(path string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	times := 0
	for _, asked := range s.asked {
		if asked == path {
			times++
		}
	}
	return times
}
