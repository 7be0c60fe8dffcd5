// Package tlstest makes certificates for tests of TLS connections.
package tlstest

import (
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
)

// Identity is a certificate that signed itself, for servers and clients.
type Identity struct {
	// CertFile and KeyFile hold it as PEM.
	CertFile, KeyFile string
	Pair              tls.Certificate
	// Pool trusts it alone.
	Pool *x509.CertPool
}

// New makes an identity for 127.0.0.1 and a name, valid for an hour.
func New(t *testing.T, name string) Identity {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, DNSNames: []string{name},
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		BasicConstraintsValid: true, IsCA: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	require.NoError(t, err)
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	certPEM := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	keyPEM := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER})
	dir := t.TempDir()
	i := Identity{CertFile: filepath.Join(dir, "cert.pem"), KeyFile: filepath.Join(dir, "key.pem"), Pool: x509.NewCertPool()}
	require.NoError(t, os.WriteFile(i.CertFile, certPEM, 0o600))
	require.NoError(t, os.WriteFile(i.KeyFile, keyPEM, 0o600))
	i.Pair, err = tls.X509KeyPair(certPEM, keyPEM)
	require.NoError(t, err)
	require.True(t, i.Pool.AppendCertsFromPEM(certPEM))
	return i
}
