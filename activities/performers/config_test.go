package performers_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gnomon/activities/performers"
)

func TestDefaultConfigIsValid(t *testing.T) {
	t.Parallel()
	c := performers.Default()
	require.NoError(t, c.Validate())
	require.False(t, c.AllowMock, "M-03")
	require.EqualValues(t, 65536, c.HTTP.MaxReplyBytes)
	require.Empty(t, c.Notificator.Address)
}

func TestConfigNamesTheFieldAndTheRule(t *testing.T) {
	t.Parallel()
	for text, change := range map[string]func(*performers.Config){
		"HTTP.MaxReplyBytes must not be negative":                      func(c *performers.Config) { c.HTTP.MaxReplyBytes = -1 },
		"HTTP.DialTimeout must not be negative":                        func(c *performers.Config) { c.HTTP.DialTimeout = -time.Second },
		"HTTP.MaxIdleConns must not be negative":                       func(c *performers.Config) { c.HTTP.MaxIdleConns = -1 },
		"HTTP.MaxIdleConnsPerHost must not be negative":                func(c *performers.Config) { c.HTTP.MaxIdleConnsPerHost = -1 },
		"HTTP.IdleConnTimeout must not be negative":                    func(c *performers.Config) { c.HTTP.IdleConnTimeout = -1 },
		`Notificator.Address "push" must be host:port`:                 func(c *performers.Config) { c.Notificator.Address = "push" },
		`Notificator.Address "push:" must be host:port`:                func(c *performers.Config) { c.Notificator.Address = "push:" },
		"Notificator.TLS.CertFile and Notificator.TLS.KeyFile must be": func(c *performers.Config) { c.Notificator.TLS = performers.TLSConfig{Enabled: true, KeyFile: "k"} },
		"Notificator.TLS.Enabled must be true":                         func(c *performers.Config) { c.Notificator.TLS.ServerName = "push" },
		"Notificator.TLS.CAFile: open ": func(c *performers.Config) {
			c.Notificator = performers.NotificatorConfig{Address: "push:1", TLS: performers.TLSConfig{Enabled: true, CAFile: "/dev/null/absent"}}
		},
		"Notificator.TLS.CAFile: /dev/null holds no certificate": func(c *performers.Config) {
			c.Notificator = performers.NotificatorConfig{Address: "push:1", TLS: performers.TLSConfig{Enabled: true, CAFile: "/dev/null"}}
		},
		"Notificator.TLS.CertFile and KeyFile: ": func(c *performers.Config) {
			c.Notificator = performers.NotificatorConfig{Address: "push:1", TLS: performers.TLSConfig{Enabled: true, CertFile: "/dev/null", KeyFile: "/dev/null"}}
		},
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			c := performers.Default()
			change(&c)
			_, err := performers.New(c)
			require.ErrorContains(t, err, text)
		})
	}
}

func TestNotificatorAddressForms(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"127.0.0.1:7795", "[::1]:7795", "dns:///push.internal:443", "unix:/run/push.sock"} {
		c := performers.Default()
		c.Notificator.Address = address
		newSet(t, c)
	}
}
