package outbound

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
)

// TLS is a client's side of TLS.
type TLS struct {
	// CAFile is a PEM file of the authorities to trust. Default: the system's.
	CAFile string
	// CertFile and KeyFile are PEM files of the client's certificate, both or neither.
	// They are read again for every connection, so they may be renewed.
	CertFile, KeyFile string
	// ServerName is the name that the server's certificate must have. Default: the
	// address's host.
	ServerName string
}

// Config reads the files, so that a wrong one shows at the start and not at the first
// call. Errors begin with what the caller's configuration names the file, or the two
// files, that cannot be used.
func (t TLS) Config(ca, pair string) (*tls.Config, error) {
	config := &tls.Config{ServerName: t.ServerName, MinVersion: tls.VersionTLS12}
	if t.CAFile != "" {
		pem, err := os.ReadFile(t.CAFile)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", ca, err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("%s: %s holds no certificate in PEM", ca, t.CAFile)
		}
	}
	if t.CertFile != "" || t.KeyFile != "" {
		load := func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			loaded, err := tls.LoadX509KeyPair(t.CertFile, t.KeyFile)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", pair, err)
			}
			return &loaded, nil
		}
		if _, err := load(nil); err != nil {
			return nil, err
		}
		config.GetClientCertificate = load
	}
	return config, nil
}
