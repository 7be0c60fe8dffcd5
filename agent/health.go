package agent

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os/exec"
	"sync"
	"time"
)

// HealthConfig is how the agent tells whether its node does its work: that is up to the
// node's real service, not to the agent. At most one of Command and URL is set;
// with none the node is always UP.
type HealthConfig struct {
	// Command is run; status 0 is UP. It is the operator's, not subject to the allow-list.
	Command []string
	// URL is fetched; a status of 200 to 299 is UP.
	URL string
	// Timeout bounds one look. Default 5 seconds.
	Timeout time.Duration
	// MaxAge is how old an answer may be that is given again. Default 1 second.
	MaxAge time.Duration
}

func (c HealthConfig) withDefaults() HealthConfig {
	if c.Timeout == 0 {
		c.Timeout = 5 * time.Second
	}
	if c.MaxAge == 0 {
		c.MaxAge = time.Second
	}
	return c
}

func (c HealthConfig) validate() error {
	if len(c.Command) > 0 && c.URL != "" {
		return errors.New("at most one of Health.Command and Health.URL may be set")
	}
	if c.Timeout < 0 || c.Timeout > time.Minute {
		return fmt.Errorf("Health.Timeout is %s and must be up to 1m", c.Timeout)
	}
	return nil
}

// health looks at the node and remembers what it saw.
type health struct {
	config HealthConfig
	meter  Meter

	mu   sync.Mutex
	up   bool
	why  string
	when time.Time
}

// Look says whether the node is UP, why not, and when that was found out.
func (h *health) Look(ctx context.Context) (up bool, why string, when time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.when.IsZero() && time.Since(h.when) < h.config.MaxAge {
		return h.up, h.why, h.when
	}
	ctx, cancel := context.WithTimeout(ctx, h.config.Timeout)
	defer cancel()
	err := h.check(ctx)
	h.up, h.why, h.when = err == nil, "", time.Now()
	if err != nil {
		h.why = err.Error()
	}
	h.meter.Up(h.up)
	return h.up, h.why, h.when
}

func (h *health) check(ctx context.Context) error {
	switch {
	case len(h.config.Command) > 0:
		cmd := exec.CommandContext(ctx, h.config.Command[0], h.config.Command[1:]...) //nolint:gosec // the operator's own
		cmd.WaitDelay = time.Second
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("the health command says: %w", err)
		}
	case h.config.URL != "":
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, h.config.URL, http.NoBody)
		if err != nil {
			return errors.New("the health URL cannot be used")
		}
		reply, err := http.DefaultClient.Do(req)
		if err != nil {
			return errors.New("the health URL does not answer")
		}
		defer reply.Body.Close()
		if reply.StatusCode < 200 || reply.StatusCode > 299 {
			return fmt.Errorf("the health URL answered with status %d", reply.StatusCode)
		}
	}
	return nil
}
