package performers

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"
)

// Config is an installation's choice of performers. A field that is zero means its
// value in [Default].
type Config struct {
	// AllowMock lets mock_action be performed. For tests of gnomon only (M-03).
	AllowMock bool
	// HTTP is for http_request.
	HTTP HTTPConfig
	// Notificator is for send_technical_push.
	Notificator NotificatorConfig
}

// HTTPConfig tunes http_request for the process. Time limit, method and the rest
// are the spec's.
type HTTPConfig struct {
	// Transport sends the requests instead of gnomon's own transport, and then the
	// fields for connections below are not used. Default nil.
	Transport http.RoundTripper
	// MaxReplyBytes is how much of a reply's body is read, after any decompression,
	// before the connection is given up. What is kept of it is MaxTextBytes.
	// Default 64 KiB.
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

// NotificatorConfig says where the Notificator service is (M-04).
type NotificatorConfig struct {
	// Address is host:port or a gRPC target such as dns:///push.internal:443 or
	// unix:/run/push.sock. Empty: there is no Notificator, and each
	// send_technical_push ends with an error that says so.
	Address string
	// TLS secures the connection. Default: none.
	TLS TLSConfig
}

// TLSConfig is a client's side of TLS.
type TLSConfig struct {
	// Enabled turns TLS on; the other fields need it.
	Enabled bool
	// CAFile is a PEM file of the authorities to trust. Default: the system's.
	CAFile string
	// CertFile and KeyFile are PEM files of the client's certificate, both or
	// neither. They are read again for every connection, so they may be renewed.
	CertFile, KeyFile string
	// ServerName is the name that the server's certificate must have. Default: the
	// address's host.
	ServerName string
}

// Default is the configuration of an installation that has no Notificator.
func Default() Config {
	return Config{
		HTTP: HTTPConfig{
			MaxReplyBytes:       64 << 10,
			DialTimeout:         10 * time.Second,
			MaxIdleConns:        2000,
			MaxIdleConnsPerHost: 1000,
			IdleConnTimeout:     30 * time.Second,
		},
	}
}

func (c Config) withDefaults() Config {
	d := Default().HTTP
	h := &c.HTTP
	h.MaxReplyBytes = cmp.Or(h.MaxReplyBytes, d.MaxReplyBytes)
	h.DialTimeout = cmp.Or(h.DialTimeout, d.DialTimeout)
	h.MaxIdleConns = cmp.Or(h.MaxIdleConns, d.MaxIdleConns)
	h.MaxIdleConnsPerHost = cmp.Or(h.MaxIdleConnsPerHost, d.MaxIdleConnsPerHost)
	h.IdleConnTimeout = cmp.Or(h.IdleConnTimeout, d.IdleConnTimeout)
	return c
}

// Validate checks c without touching files or the network. Its error has one line
// for each field that breaks a rule.
func (c Config) Validate() error {
	return errors.Join(c.HTTP.validate(), c.Notificator.validate())
}

func (c HTTPConfig) validate() error {
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

func (c NotificatorConfig) validate() error {
	var errs []error
	// Targets with a scheme are judged by gRPC, which knows the schemes.
	if c.Address != "" && !strings.Contains(c.Address, ":/") {
		if _, port, err := net.SplitHostPort(c.Address); err != nil || port == "" {
			errs = append(errs, fmt.Errorf("Notificator.Address %q must be host:port or a gRPC target with a scheme, such as dns:///host:port", c.Address))
		}
	}
	t := c.TLS
	if (t.CertFile == "") != (t.KeyFile == "") {
		errs = append(errs, errors.New("Notificator.TLS.CertFile and Notificator.TLS.KeyFile must be set both or neither"))
	}
	if !t.Enabled && t != (TLSConfig{}) {
		errs = append(errs, errors.New("Notificator.TLS.Enabled must be true where other fields of Notificator.TLS are set"))
	}
	return errors.Join(errs...)
}
