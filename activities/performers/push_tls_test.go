package performers_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"

	notificatorv1 "gnomon/api/gnomon/notificator/v1"

	"gnomon/activities/performers"
)

// identity is a certificate that signed itself, in files, for 127.0.0.1 and the name
// push.test.
type identity struct {
	certFile, keyFile string
	pair              tls.Certificate
	pool              *x509.CertPool
}

func newIdentity(t *testing.T) identity {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber:          big.NewInt(1),
		Subject:               pkix.Name{CommonName: "push.test"},
		NotBefore:             time.Now().Add(-time.Hour),
		NotAfter:              time.Now().Add(time.Hour),
		IPAddresses:           []net.IP{net.IPv4(127, 0, 0, 1)},
		DNSNames:              []string{"push.test"},
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		BasicConstraintsValid: true,
		IsCA:                  true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	require.NoError(t, err)
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	certPEM := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	keyPEM := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER})

	dir := t.TempDir()
	i := identity{certFile: filepath.Join(dir, "cert.pem"), keyFile: filepath.Join(dir, "key.pem"), pool: x509.NewCertPool()}
	require.NoError(t, os.WriteFile(i.certFile, certPEM, 0o600))
	require.NoError(t, os.WriteFile(i.keyFile, keyPEM, 0o600))
	i.pair, err = tls.X509KeyPair(certPEM, keyPEM)
	require.NoError(t, err)
	require.True(t, i.pool.AppendCertsFromPEM(certPEM))
	return i
}

// NotificatorConfig.TLS: the server must be who it says, and learns who the client
// is.
func TestPushOverMutualTLS(t *testing.T) {
	t.Parallel()
	server, client := newIdentity(t), newIdentity(t)
	ok := func(context.Context, *notificatorv1.SendTechnicalPushRequest) (string, error) { return "push-1", nil }
	address, _ := serveNotificator(t, "127.0.0.1:0", ok, grpc.Creds(credentials.NewTLS(&tls.Config{
		Certificates: []tls.Certificate{server.pair},
		ClientAuth:   tls.RequireAndVerifyClientCert,
		ClientCAs:    client.pool,
		MinVersion:   tls.VersionTLS12,
	})))
	full := performers.TLSConfig{Enabled: true, CAFile: server.certFile, CertFile: client.certFile, KeyFile: client.keyFile}
	perform := func(c performers.TLSConfig) error {
		_, err := newPush(t, performers.NotificatorConfig{Address: address, TLS: c}).Perform(t.Context(), request(pushAction(0)))
		return err
	}
	require.NoError(t, perform(full))

	named := full
	named.ServerName = "push.test"
	require.NoError(t, perform(named))

	for name, c := range map[string]performers.TLSConfig{
		"no TLS":                {},
		"authority not trusted": {Enabled: true, CertFile: client.certFile, KeyFile: client.keyFile},
		"no certificate":        {Enabled: true, CAFile: server.certFile},
		"wrong certificate":     {Enabled: true, CAFile: server.certFile, CertFile: server.certFile, KeyFile: server.keyFile},
		"wrong name":            {Enabled: true, CAFile: server.certFile, CertFile: client.certFile, KeyFile: client.keyFile, ServerName: "other.test"},
	} {
		require.ErrorContains(t, perform(c), "Unavailable", name)
	}
}
