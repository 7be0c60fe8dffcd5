package channels

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"time"

	"github.com/wneessen/go-mail"

	"gnomon/notices"
)

// MailConfig says how mail is sent.
type MailConfig struct {
	// Server is host:port of an SMTP server. Required.
	Server string
	// TLS is starttls (the default), tls for a server that speaks it from the start, or
	// none.
	TLS string
	// CAFile is a PEM file of the authorities to trust. Default: the system's.
	CAFile string
	// Username and Password log in, both or neither. Never without TLS.
	Username, Password string
	// From is the sender's address, To those of the recipients. Required.
	From string
	To   []string
	// Timeout bounds a call. Default 10 seconds, at most 1 minute.
	Timeout time.Duration
}

// String hides the password.
func (c MailConfig) String() string { return c.Server }

// Values of MailConfig.TLS.
const (
	startTLS = "starttls"
	fullTLS  = "tls"
	noTLS    = "none"
)

// smtpMail sends a mail for each notice.
type smtpMail struct {
	name, link string
	config     MailConfig
	client     *mail.Client
}

func newMail(name, link string, c MailConfig) (*smtpMail, error) {
	host, port, err := net.SplitHostPort(c.Server)
	number, errPort := strconv.ParseUint(port, 10, 16)
	if err != nil || errPort != nil || host == "" || number == 0 {
		return nil, fmt.Errorf("mail.server %q must be host:port", c.Server)
	}
	c.TLS = cmp.Or(c.TLS, startTLS)
	c.Timeout = cmp.Or(c.Timeout, defaultTimeout)
	if c.Timeout < 0 || c.Timeout > maxTimeout {
		return nil, fmt.Errorf("mail.timeout is %s and must be above 0s and at most %s", c.Timeout, maxTimeout)
	}
	m := &smtpMail{name: name, link: link, config: c}
	if _, err := m.envelope(); err != nil {
		return nil, err
	}
	options := []mail.Option{mail.WithPort(int(number)), mail.WithTimeout(c.Timeout)}
	secure, err := c.secure(host)
	if err != nil {
		return nil, err
	}
	login, err := c.login()
	if err != nil {
		return nil, err
	}
	m.client, err = mail.NewClient(host, append(append(options, secure...), login...)...)
	return m, err
}

// secure is what the client does about TLS.
func (c MailConfig) secure(host string) ([]mail.Option, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: host}
	if c.CAFile != "" {
		pem, err := os.ReadFile(c.CAFile)
		if err != nil {
			return nil, fmt.Errorf("mail.ca_file: %w", err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("mail.ca_file: %s holds no certificate", c.CAFile)
		}
	}
	switch c.TLS {
	case startTLS:
		return []mail.Option{mail.WithTLSPolicy(mail.TLSMandatory), mail.WithTLSConfig(config)}, nil
	case fullTLS:
		return []mail.Option{mail.WithSSL(), mail.WithTLSConfig(config)}, nil
	case noTLS:
		return []mail.Option{mail.WithTLSPolicy(mail.NoTLS)}, nil
	default:
		return nil, fmt.Errorf("mail.tls %q must be %s, %s or %s", c.TLS, startTLS, fullTLS, noTLS)
	}
}

// login is how the client logs in.
func (c MailConfig) login() ([]mail.Option, error) {
	switch {
	case c.Username == "" && c.Password == "":
		return nil, nil
	case c.Username == "" || c.Password == "":
		return nil, errors.New("mail.username and mail.password must be set both or neither")
	case c.TLS == noTLS:
		return nil, errors.New("mail.password must not be sent without TLS")
	default:
		return []mail.Option{mail.WithSMTPAuth(mail.SMTPAuthAutoDiscover), mail.WithUsername(c.Username), mail.WithPassword(c.Password)}, nil
	}
}

// envelope is a mail without contents.
func (m *smtpMail) envelope() (*mail.Msg, error) {
	msg := mail.NewMsg()
	if err := msg.From(m.config.From); err != nil {
		return nil, fmt.Errorf("mail.from: %w", err)
	}
	if len(m.config.To) == 0 {
		return nil, errors.New("mail.to must have at least one address")
	}
	if err := msg.To(m.config.To...); err != nil {
		return nil, fmt.Errorf("mail.to: %w", err)
	}
	return msg, nil
}

// Name implements notices.Channel.
func (m *smtpMail) Name() string { return m.name }

// Send implements notices.Channel. Repeated mails have one Message-ID, by which mail
// programs show them once.
func (m *smtpMail) Send(ctx context.Context, n notices.Notice) error {
	msg, err := m.envelope()
	if err != nil {
		return err
	}
	message := messageOf(n, m.link)
	key := sha256.Sum256([]byte(n.Key))
	msg.SetMessageIDWithValue(hex.EncodeToString(key[:16]) + "@gnomon")
	msg.SetGenHeader("X-Gnomon-Key", n.Key)
	msg.SetGenHeader("X-Gnomon-Event", n.Event)
	msg.SetGenHeader("Auto-Submitted", "auto-generated")
	msg.Subject(message.subject())
	msg.SetDate()
	msg.SetBodyString(mail.TypeTextPlain, message.text())
	ctx, cancel := context.WithTimeout(ctx, m.config.Timeout)
	defer cancel()
	if err := m.client.DialAndSendWithContext(ctx, msg); err != nil {
		return fmt.Errorf("mail by %s: %w", m.config.Server, err)
	}
	return nil
}
