package roles

import (
	"net/http"
	"runtime"
	"strings"
	"time"
)

// Paths that a planted performer misbehaves for (F11).
const (
	PlantedPanic  = "/planted/panic"
	PlantedLoop   = "/planted/loop"
	PlantedMemory = "/planted/memory"
	PlantedDeaf   = "/planted/deaf"
)

const (
	// plantedFor is how long a planted performer loops, hoards or does not listen.
	plantedFor = 4 * time.Second
	// plantedBytes is how much it hoards.
	plantedBytes = 256 << 20
)

// planted sends requests, and misbehaves where their path says so.
type planted struct{ http.RoundTripper }

func newPlanted() planted {
	return planted{&http.Transport{MaxIdleConnsPerHost: 1000, MaxIdleConns: 2000}}
}

// RoundTrip implements http.RoundTripper.
func (p planted) RoundTrip(r *http.Request) (*http.Response, error) {
	end := time.Now().Add(plantedFor)
	switch path := r.URL.Path; {
	case strings.HasPrefix(path, PlantedPanic):
		panic("planted")
	case strings.HasPrefix(path, PlantedLoop):
		for time.Now().Before(end) {
			// It burns, as it should.
		}
	case strings.HasPrefix(path, PlantedMemory):
		hoard := make([]byte, plantedBytes)
		for i := 0; i < len(hoard); i += 4096 {
			hoard[i] = 1
		}
		wait(end)
		runtime.KeepAlive(hoard)
	case strings.HasPrefix(path, PlantedDeaf):
		wait(end.Add(plantedFor))
	}
	return p.RoundTripper.RoundTrip(r)
}

// wait does not listen to any context.
func wait(until time.Time) { <-time.NewTimer(time.Until(until)).C }
