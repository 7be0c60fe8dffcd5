package e2e

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	gnomonv1 "gnomon/api/gnomon/v1"

	"gnomon/examples/notificator/pushserver"
)

// M-04: the worker's flags reach the Notificator over TLS. Its certificate is signed by
// nobody known and has another name than the address, and it wants one of the client's,
// so the push arrives only if every flag does.
func TestProcessPushOverTLS(t *testing.T) {
	t.Parallel()
	server := httptest.NewUnstartedServer(pushserver.New(io.Discard, 0).GRPC())
	server.EnableHTTP2 = true
	server.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert, MinVersion: tls.VersionTLS12}
	server.StartTLS()
	t.Cleanup(server.Close)
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	require.NoError(t, err)

	cert, key := filepath.Join(t.TempDir(), "cert.pem"), filepath.Join(t.TempDir(), "key.pem")
	writePEM(t, cert, "CERTIFICATE", server.Certificate().Raw)
	der, err := x509.MarshalPKCS8PrivateKey(server.TLS.Certificates[0].PrivateKey)
	require.NoError(t, err)
	writePEM(t, key, "PRIVATE KEY", der)

	p := separate(t)
	p.work(t, "--notificator-address", net.JoinHostPort("localhost", port), "--notificator-tls",
		"--notificator-tls-ca", cert, "--notificator-tls-cert", cert, "--notificator-tls-key", key,
		"--notificator-tls-server-name", server.Certificate().DNSNames[0])
	create(t, p.client, &gnomonv1.ScheduledAction{
		Meta: &gnomonv1.Meta{Id: "push"},
		Spec: &gnomonv1.Spec{
			StartPolicy: &gnomonv1.StartPolicy{StartAt: stamp(time.Now())},
			SendPolicy:  &gnomonv1.SendPolicy{Policy: &gnomonv1.SendPolicy_SendOncePolicy{SendOncePolicy: &gnomonv1.SendOncePolicy{}}},
			Action: &gnomonv1.Action{Action: &gnomonv1.Action_SendTechnicalPush{
				SendTechnicalPush: &gnomonv1.SendTechnicalPush{Recipient: "device-7", Type: "refresh"},
			}},
		},
	})
	var status *gnomonv1.Status
	eventually(t, 20*time.Second, "the push is delivered or refused", func() bool {
		got, err := p.client.GetAction(t.Context(), &gnomonv1.GetActionRequest{Id: "push"})
		status = got.GetStatus()
		return err == nil && status.GetLastAttemptStatus() != nil
	})
	require.EqualValues(t, 1, status.GetSuccessfulAttemptsCounter(), "%v", status)
}

func writePEM(t *testing.T, file, kind string, der []byte) {
	t.Helper()
	require.NoError(t, os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600))
}
