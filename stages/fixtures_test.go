package stages_test

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
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"google.golang.org/grpc"

	gnomonv1 "gnomon/api/gnomon/v1"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// identity is a certificate that signed itself, in files, for 127.0.0.1 and the name
// price.test.
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
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "price.test"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, DNSNames: []string{"price.test"},
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
	i := identity{certFile: filepath.Join(dir, "cert.pem"), keyFile: filepath.Join(dir, "key.pem"), pool: x509.NewCertPool()}
	require.NoError(t, os.WriteFile(i.certFile, certPEM, 0o600))
	require.NoError(t, os.WriteFile(i.keyFile, keyPEM, 0o600))
	i.pair, err = tls.X509KeyPair(certPEM, keyPEM)
	require.NoError(t, err)
	require.True(t, i.pool.AppendCertsFromPEM(certPEM))
	return i
}

// server is a stage behind gRPC; methods that are nil are not implemented.
type server struct {
	gnomonv1.UnimplementedStageServiceServer

	should  func(context.Context, *gnomonv1.ShouldProcessRequest) (*gnomonv1.ShouldProcessResponse, error)
	process func(context.Context, *gnomonv1.ProcessRequest) (*gnomonv1.ProcessResponse, error)
}

func (s server) ShouldProcess(ctx context.Context, r *gnomonv1.ShouldProcessRequest) (*gnomonv1.ShouldProcessResponse, error) {
	if s.should == nil {
		return s.UnimplementedStageServiceServer.ShouldProcess(ctx, r)
	}
	return s.should(ctx, r)
}

func (s server) Process(ctx context.Context, r *gnomonv1.ProcessRequest) (*gnomonv1.ProcessResponse, error) {
	if s.process == nil {
		return s.UnimplementedStageServiceServer.Process(ctx, r)
	}
	return s.process(ctx, r)
}

// serve serves it at an address and gives that, and what stops it.
func (s server) serve(t *testing.T, address string, options ...grpc.ServerOption) (at string, stop func()) {
	t.Helper()
	var listen net.ListenConfig
	listener, err := listen.Listen(t.Context(), "tcp", address)
	require.NoError(t, err)
	g := grpc.NewServer(options...)
	gnomonv1.RegisterStageServiceServer(g, s)
	var serving sync.WaitGroup
	serving.Go(func() { _ = g.Serve(listener) })
	stop = sync.OnceFunc(func() {
		g.Stop()
		serving.Wait()
	})
	t.Cleanup(stop)
	return listener.Addr().String(), stop
}
