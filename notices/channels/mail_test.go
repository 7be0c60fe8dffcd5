package channels_test

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/mail"
	"strings"
	"sync"
	"testing"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
	"github.com/stretchr/testify/require"

	"gnomon/outbound/tlstest"
)

// post is an SMTP server and what it was given.
type post struct {
	address, caFile string

	mu    sync.Mutex
	fails int // so many mails are refused first
	mails []letter
}

type letter struct {
	from string
	to   []string
	user string
	tls  bool
	text string
}

// postOffice starts a server that speaks STARTTLS, or TLS from the start.
func postOffice(t *testing.T, fromTheStart bool) *post {
	t.Helper()
	p := &post{}
	certificate := p.certificate(t)
	s := smtp.NewServer(smtp.BackendFunc(func(c *smtp.Conn) (smtp.Session, error) {
		return &session{post: p, conn: c}, nil
	}))
	s.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	s.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{certificate}}
	s.AllowInsecureAuth = false
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	p.address = l.Addr().String()
	if fromTheStart {
		l = tls.NewListener(l, s.TLSConfig)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = s.Serve(l)
	}()
	t.Cleanup(func() {
		require.NoError(t, s.Close())
		<-done
	})
	return p
}

// certificate makes one for 127.0.0.1 and writes it where clients can read it.
func (p *post) certificate(t *testing.T) tls.Certificate {
	t.Helper()
	of := tlstest.New(t, "mail.test")
	p.caFile = of.CertFile
	return of.Pair
}

func (p *post) letters() []letter {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]letter(nil), p.mails...)
}

// session is one connection.
type session struct {
	post   *post
	conn   *smtp.Conn
	letter letter
}

func (*session) AuthMechanisms() []string { return []string{sasl.Plain} }

func (s *session) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, username, password string) error {
		if password != "s3cret" {
			return errors.New("wrong password")
		}
		s.letter.user = username
		return nil
	}), nil
}

func (s *session) Reset()        {}
func (s *session) Logout() error { return nil }

func (s *session) Mail(from string, _ *smtp.MailOptions) error {
	s.letter.from, s.letter.to = from, nil
	return nil
}

func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	s.letter.to = append(s.letter.to, to)
	return nil
}

func (s *session) Data(r io.Reader) error {
	text, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	s.post.mu.Lock()
	defer s.post.mu.Unlock()
	if s.post.fails > 0 {
		s.post.fails--
		return &smtp.SMTPError{Code: 451, Message: "try again"}
	}
	s.letter.text = string(text)
	_, s.letter.tls = s.conn.TLSConnectionState()
	s.post.mails = append(s.post.mails, s.letter)
	return nil
}

func mailChannel(p *post, more string) string {
	return fmt.Sprintf(`
link: https://gnomon.example.org/{id}
channels:
  - name: mail
    mail: {server: '%s', ca_file: '%s', from: 'gnomon <gnomon@example.org>', to: [on-call@example.org, dns@example.org], timeout: 20s%s}
`, p.address, p.caFile, more)
}

// V-17: what a mail says, over STARTTLS with a password; nothing of what the batch holds.
func TestMail(t *testing.T) {
	t.Setenv("GNOMON_TEST_PASSWORD", "s3cret")
	p := postOffice(t, false)
	p.fails = 2
	c := one(t, mailChannel(p, `, username: gnomon, password: {env: GNOMON_TEST_PASSWORD}`))
	for range 2 {
		require.ErrorContains(t, c.Send(t.Context(), review(3)), "try again")
	}
	require.NoError(t, c.Send(t.Context(), review(3)))
	require.NoError(t, c.Send(t.Context(), review(3)))

	got := p.letters()
	require.Len(t, got, 2)
	require.Equal(t, "gnomon@example.org", got[0].from)
	require.Equal(t, []string{"on-call@example.org", "dns@example.org"}, got[0].to)
	require.Equal(t, "gnomon", got[0].user)
	require.True(t, got[0].tls)

	first, err := mail.ReadMessage(strings.NewReader(got[0].text))
	require.NoError(t, err)
	require.Equal(t, "Batch release:7 needs a review (ScheduledChangeFailed)", first.Header.Get("Subject"))
	require.Equal(t, "release:7/uid-1/2/ScheduledChangeFailed", first.Header.Get("X-Gnomon-Key"))
	second, err := mail.ReadMessage(strings.NewReader(got[1].text))
	require.NoError(t, err)
	require.NotEmpty(t, first.Header.Get("Message-ID"))
	require.Equal(t, first.Header.Get("Message-ID"), second.Header.Get("Message-ID"), "mail programs show it once")
	for _, line := range []string{
		"State:    MANUAL_REVIEW, round 2", "Due:      2026-11-21T10:00:00Z", "Changes:  3 complete, 1 failed, 7 not finished",
		"  the batch: RECORD_EXISTS (hard)", "  change 1: RECORD_EXISTS (hard)", "https://gnomon.example.org/release:7",
	} {
		require.Contains(t, got[0].text, line)
	}
	require.NotContains(t, got[0].text, "secret")
}

func TestMailOverTLSFromTheStart(t *testing.T) {
	t.Parallel()
	p := postOffice(t, true)
	require.NoError(t, one(t, mailChannel(p, `, tls: tls`)).Send(t.Context(), review(1)))
	require.Len(t, p.letters(), 1)
}

// A server that is not who it should be, or offers no TLS, gets nothing.
func TestMailGoesNowhereElse(t *testing.T) {
	t.Setenv("GNOMON_TEST_PASSWORD", "n0t-s3cret")
	p := postOffice(t, false)
	for want, config := range map[string]string{
		"certificate":           strings.Replace(mailChannel(p, ""), "ca_file", "x_file", 1),
		"wrong password":        mailChannel(p, `, username: gnomon, password: {env: GNOMON_TEST_PASSWORD}`),
		"mail by 127.0.0.1:1: ": strings.Replace(mailChannel(p, ""), p.address, "127.0.0.1:1", 1),
	} {
		config = strings.Replace(config, "x_file: '"+p.caFile+"', ", "", 1)
		err := one(t, config).Send(t.Context(), review(1))
		require.ErrorContains(t, err, want)
		require.NotContains(t, err.Error(), "n0t-s3cret")
	}
	require.Empty(t, p.letters())
}
