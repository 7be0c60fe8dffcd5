package serve

import (
	"github.com/spf13/pflag"

	"gnomon/activities/performers"
)

// notificatorFlags say where the Notificator is and how it is spoken to (M-04).
func notificatorFlags(f *pflag.FlagSet, c *performers.NotificatorConfig) {
	f.StringVar(&c.Address, "notificator-address", "", "host:port of the Notificator service for technical pushes (env GNOMON_NOTIFICATOR_ADDRESS)")
	f.BoolVar(&c.TLS.Enabled, "notificator-tls", false, "speak TLS to the Notificator; the other --notificator-tls flags need it (env GNOMON_NOTIFICATOR_TLS)")
	f.StringVar(&c.TLS.CAFile, "notificator-tls-ca", "", "PEM file of the authorities to trust, default the system's (env GNOMON_NOTIFICATOR_TLS_CA)")
	f.StringVar(&c.TLS.CertFile, "notificator-tls-cert", "", "PEM file of the client's certificate, read again for every connection (env GNOMON_NOTIFICATOR_TLS_CERT)")
	f.StringVar(&c.TLS.KeyFile, "notificator-tls-key", "", "PEM file of the client's key (env GNOMON_NOTIFICATOR_TLS_KEY)")
	f.StringVar(&c.TLS.ServerName, "notificator-tls-server-name", "", "name that the Notificator's certificate must have, default the address's host (env GNOMON_NOTIFICATOR_TLS_SERVER_NAME)")
}
