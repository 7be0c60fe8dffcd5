package outbound

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// HTTPConfig tunes the HTTP client of a process. A field that is zero means its value
// in [DefaultHTTP].
type HTTPConfig struct {
	// Transport sends the requests instead of gnomon's own transport, and then the
	// fields for connections below are not used. Default nil.
	Transport http.RoundTripper
	// MaxReplyBytes is how much of a reply's body is read, after any decompression,
	// before the connection is given up. Default 64 KiB.
	MaxReplyBytes int64
	// DialTimeout bounds a TCP connect, within the request's own limit. Default 10 s.
	DialTimeout time.Duration
	// MaxIdleConns bounds the connections kept for reuse. Default 2,000.
	MaxIdleConns int
	// MaxIdleConnsPerHost does so for each host. Default 1,000: as many actions
	// may fall due in one second, all for one host, and again a second later.
	MaxIdleConnsPerHost int
	// IdleConnTimeout is how long an unused connection is kept. Default 30 s.
	IdleConnTimeout time.Duration
}

// DefaultHTTP is the configuration that serves most installations.
func DefaultHTTP() HTTPConfig {
	return HTTPConfig{
		MaxReplyBytes:       64 << 10,
		DialTimeout:         10 * time.Second,
		MaxIdleConns:        2000,
		MaxIdleConnsPerHost: 1000,
		IdleConnTimeout:     30 * time.Second,
	}
}

// WithDefaults is c with its zero fields filled in.
func (c HTTPConfig) WithDefaults() HTTPConfig {
	d := DefaultHTTP()
	c.MaxReplyBytes = cmp.Or(c.MaxReplyBytes, d.MaxReplyBytes)
	c.DialTimeout = cmp.Or(c.DialTimeout, d.DialTimeout)
	c.MaxIdleConns = cmp.Or(c.MaxIdleConns, d.MaxIdleConns)
	c.MaxIdleConnsPerHost = cmp.Or(c.MaxIdleConnsPerHost, d.MaxIdleConnsPerHost)
	c.IdleConnTimeout = cmp.Or(c.IdleConnTimeout, d.IdleConnTimeout)
	return c
}

// Validate has one line for each field that breaks a rule, named as HTTP.Field.
func (c HTTPConfig) Validate() error {
	var errs []error
	for _, f := range []struct {
		name  string
		value int64
	}{
		{"MaxReplyBytes", c.MaxReplyBytes},
		{"DialTimeout", int64(c.DialTimeout)},
		{"MaxIdleConns", int64(c.MaxIdleConns)},
		{"MaxIdleConnsPerHost", int64(c.MaxIdleConnsPerHost)},
		{"IdleConnTimeout", int64(c.IdleConnTimeout)},
	} {
		if f.value < 0 {
			errs = append(errs, fmt.Errorf("HTTP.%s must not be negative", f.name))
		}
	}
	return errors.Join(errs...)
}
