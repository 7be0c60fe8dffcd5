package receiver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"time"
)

// Receiver is a server that is running. Its methods may be called concurrently.
type Receiver struct {
	arrivals *arrivals
	listener net.Listener
	server   *http.Server
	file     *os.File
	// stopping is closed when answers that wait should be given up.
	stopping chan struct{}
	served   chan struct{}

	gateMu sync.Mutex
	gate   chan struct{}

	closeOnce sync.Once
	closeErr  error
}

// Start listens and serves until ctx ends or [Receiver.Close]. The error says
// which field of c is wrong, or that the address or the record cannot be opened.
func Start(ctx context.Context, c Config) (*Receiver, error) {
	c = c.withDefaults()
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("receiver: %w", err)
	}
	r := &Receiver{
		stopping: make(chan struct{}),
		served:   make(chan struct{}),
		gate:     make(chan struct{}),
	}
	record := c.Record
	if c.RecordPath != "" {
		file, err := os.OpenFile(c.RecordPath, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return nil, fmt.Errorf("receiver: Config.RecordPath: %w", err)
		}
		r.file, record = file, io.Writer(file)
	}
	var listen net.ListenConfig
	listener, err := listen.Listen(ctx, "tcp", c.Address)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("receiver: Config.Address: %w", err), r.closeFile())
	}
	r.listener = listener
	r.arrivals = newArrivals(c, record)
	r.server = &http.Server{Handler: http.HandlerFunc(r.serve), ReadHeaderTimeout: 10 * time.Second}
	go func() {
		defer close(r.served)
		_ = r.server.Serve(listener)
	}()
	go func() {
		select {
		case <-ctx.Done():
			_ = r.Close() //nolint:contextcheck // ctx is over by then
		case <-r.stopping:
		}
	}()
	return r, nil
}

// Addr is the host:port it listens at.
func (r *Receiver) Addr() string { return r.listener.Addr().String() }

// URL is the absolute http URL of a path, which begins with a slash.
func (r *Receiver) URL(path string) string { return "http://" + r.Addr() + path }

// Arrivals is what is remembered of what arrived, oldest first.
func (r *Receiver) Arrivals() []Arrival { return r.arrivals.all() }

// Wait returns the first arrival for which want is true, among those remembered
// and those to come; want is asked once for each, in order. The error is [ErrClosed]
// or wraps that of ctx.
func (r *Receiver) Wait(ctx context.Context, want func(Arrival) bool) (Arrival, error) {
	return r.arrivals.wait(ctx, want)
}

// Release answers the requests to /block that have arrived. Later ones are held
// again.
func (r *Receiver) Release() {
	r.gateMu.Lock()
	defer r.gateMu.Unlock()
	close(r.gate)
	r.gate = make(chan struct{})
}

// Close stops listening, drops the requests that are held and closes the file of
// the record. Its error says if a line could not be written. It may be called more
// than once.
func (r *Receiver) Close() error {
	r.closeOnce.Do(func() {
		close(r.stopping)
		// Long enough for answers under way; what hangs then is cut off.
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if r.server.Shutdown(ctx) != nil {
			_ = r.server.Close()
		}
		<-r.served
		r.closeErr = errors.Join(r.arrivals.close(), r.closeFile())
	})
	return r.closeErr
}

func (r *Receiver) closeFile() error {
	if r.file == nil {
		return nil
	}
	return r.file.Close()
}

func (r *Receiver) serve(w http.ResponseWriter, req *http.Request) {
	// Taken before the arrival can be seen, so that whoever saw it can release it.
	r.gateMu.Lock()
	gate := r.gate
	r.gateMu.Unlock()

	a, err := readArrival(req, time.Now())
	reply := behave(a, func() int { return r.arrivals.like(a) })
	switch {
	case errors.Is(err, errLongBody):
		reply = answer{status: http.StatusRequestEntityTooLarge, text: err.Error() + "\n"}
	case err != nil:
		reply = refuse("the body broke off")
	}
	a.Status = reply.status
	if err := r.arrivals.add(a); err != nil {
		// An arrival that is not on record must not count as one.
		http.Error(w, "the arrival could not be recorded", http.StatusInternalServerError)
		return
	}
	if !r.hold(req.Context(), reply, gate) {
		// Without an answer, as if this process had died.
		panic(http.ErrAbortHandler)
	}
	reply.write(w)
}

// hold waits for as long as the answer says; false means that nobody wants it any
// more.
func (r *Receiver) hold(ctx context.Context, a answer, gate <-chan struct{}) bool {
	var ready <-chan struct{}
	var timer <-chan time.Time
	switch {
	case a.block:
		ready = gate
	case a.wait > 0:
		t := time.NewTimer(a.wait)
		defer t.Stop()
		timer = t.C
	default:
		return true
	}
	select {
	case <-ready:
	case <-timer:
	case <-r.stopping:
		return false
	case <-ctx.Done():
		return false
	}
	return true
}
