package performers

import (
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"

	"gnomon/outbound"
)

// credentialsOf reads the files of c, so that a wrong one shows at the start and
// not when the first push is due.
func credentialsOf(c TLSConfig) (credentials.TransportCredentials, error) {
	if !c.Enabled {
		return insecure.NewCredentials(), nil
	}
	files := outbound.TLS{CAFile: c.CAFile, CertFile: c.CertFile, KeyFile: c.KeyFile, ServerName: c.ServerName}
	config, err := files.Config("Notificator.TLS.CAFile", "Notificator.TLS.CertFile and KeyFile")
	if err != nil {
		return nil, err
	}
	return credentials.NewTLS(config), nil
}
