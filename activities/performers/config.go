package performers

import (
	"errors"
	"fmt"
	"net"
	"strings"

	"gnomon/outbound"
)

// Config is an installation's choice of performers. A field that is zero means its
// value in [Default].
type Config struct {
	// AllowMock lets mock_action be performed. For tests of gnomon only (M-03).
	AllowMock bool
	// HTTP is for http_request. Time limit, method and the rest are the spec's.
	HTTP outbound.HTTPConfig
	// Notificator is for send_technical_push.
	Notificator NotificatorConfig
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
	return Config{HTTP: outbound.DefaultHTTP()}
}

func (c Config) withDefaults() Config {
	c.HTTP = c.HTTP.WithDefaults()
	return c
}

// Validate checks c without touching files or the network. Its error has one line
// for each field that breaks a rule.
func (c Config) Validate() error {
	return errors.Join(c.HTTP.Validate(), c.Notificator.validate())
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
