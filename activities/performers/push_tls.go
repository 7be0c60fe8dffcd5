package performers

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
)

// credentialsOf reads the files of c, so that a wrong one shows at the start and
// not when the first push is due.
func credentialsOf(c TLSConfig) (credentials.TransportCredentials, error) {
	if !c.Enabled {
		return insecure.NewCredentials(), nil
	}
	config := &tls.Config{ServerName: c.ServerName, MinVersion: tls.VersionTLS12}
	if c.CAFile != "" {
		pem, err := os.ReadFile(c.CAFile)
		if err != nil {
			return nil, fmt.Errorf("Notificator.TLS.CAFile: %w", err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("Notificator.TLS.CAFile: %s holds no certificate in PEM", c.CAFile)
		}
	}
	if c.CertFile != "" {
		load := func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			pair, err := tls.LoadX509KeyPair(c.CertFile, c.KeyFile)
			if err != nil {
				return nil, fmt.Errorf("Notificator.TLS.CertFile and KeyFile: %w", err)
			}
			return &pair, nil
		}
		if _, err := load(nil); err != nil {
			return nil, err
		}
		config.GetClientCertificate = load
	}
	return credentials.NewTLS(config), nil
}
