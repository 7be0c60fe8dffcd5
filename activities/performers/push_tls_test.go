package performers_test

import (
	"context"
	"crypto/tls"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"

	notificatorv1 "gnomon/api/gnomon/notificator/v1"

	"gnomon/activities/performers"
	"gnomon/outbound/tlstest"
)

// NotificatorConfig.TLS: the server must be who it says, and learns who the client
// is.
func TestPushOverMutualTLS(t *testing.T) {
	t.Parallel()
	server, client := tlstest.New(t, "push.test"), tlstest.New(t, "push.test")
	ok := func(context.Context, *notificatorv1.SendTechnicalPushRequest) (string, error) { return "push-1", nil }
	address, _ := serveNotificator(t, "127.0.0.1:0", ok, grpc.Creds(credentials.NewTLS(&tls.Config{
		Certificates: []tls.Certificate{server.Pair},
		ClientAuth:   tls.RequireAndVerifyClientCert,
		ClientCAs:    client.Pool,
		MinVersion:   tls.VersionTLS12,
	})))
	full := performers.TLSConfig{Enabled: true, CAFile: server.CertFile, CertFile: client.CertFile, KeyFile: client.KeyFile}
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
		"authority not trusted": {Enabled: true, CertFile: client.CertFile, KeyFile: client.KeyFile},
		"no certificate":        {Enabled: true, CAFile: server.CertFile},
		"wrong certificate":     {Enabled: true, CAFile: server.CertFile, CertFile: server.CertFile, KeyFile: server.KeyFile},
		"wrong name":            {Enabled: true, CAFile: server.CertFile, CertFile: client.CertFile, KeyFile: client.KeyFile, ServerName: "other.test"},
	} {
		require.ErrorContains(t, perform(c), "Unavailable", name)
	}
}
