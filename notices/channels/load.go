package channels

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"time"

	"github.com/goccy/go-yaml"

	"gnomon/notices"
	"gnomon/outbound"
	"gnomon/secrets"
)

// file is the configuration as people write it.
type file struct {
	Link     string    `yaml:"link"`
	Channels []channel `yaml:"channels"`
}

type channel struct {
	Name    string       `yaml:"name"`
	Events  []string     `yaml:"events"`
	Webhook *webhookFile `yaml:"webhook"`
	Mail    *mailFile    `yaml:"mail"`
	Log     *struct{}    `yaml:"log"`
}

type webhookFile struct {
	URL           string                    `yaml:"url"`
	URLFrom       secrets.Source            `yaml:"url_from"`
	Headers       map[string]string         `yaml:"headers"`
	SecretHeaders map[string]secrets.Source `yaml:"secret_headers"`
	Timeout       string                    `yaml:"timeout"`
}

type mailFile struct {
	Server   string         `yaml:"server"`
	TLS      string         `yaml:"tls"`
	CAFile   string         `yaml:"ca_file"`
	Username string         `yaml:"username"`
	Password secrets.Source `yaml:"password"`
	From     string         `yaml:"from"`
	To       []string       `yaml:"to"`
	Timeout  string         `yaml:"timeout"`
}

// Channels are those of an installation. Close gives up their connections.
type Channels struct {
	notices.Set

	client *outbound.Client
}

var _ io.Closer = Channels{}

// Close implements io.Closer.
func (c Channels) Close() error {
	if c.client == nil {
		return nil
	}
	return c.client.Close()
}

// Default is the log alone, which is told everything: the channels of an installation
// without a configuration.
func Default(log *slog.Logger) Channels {
	return Channels{Set: notices.Set{{Channel: &logged{name: "log", log: log}, Events: []string{
		notices.BatchComplete, notices.BatchPartialFailure, notices.BatchFailed, notices.BatchCancelled,
	}}}}
}

// Open is Load, or Default if name is empty.
func Open(name string, log *slog.Logger) (Channels, error) {
	if name == "" {
		return Default(log), nil
	}
	return Load(name, log)
}

// Load reads channels from a YAML file; see docs/batches.md for its fields. Unknown
// fields are errors. Secrets are read from the files and environment variables that it
// names, once. An error names the channel and the field, never a secret.
func Load(name string, log *slog.Logger) (Channels, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return Channels{}, fmt.Errorf("notifications: %w", err)
	}
	var f file
	if err := yaml.UnmarshalWithOptions(text, &f, yaml.DisallowUnknownField()); err != nil {
		// Without the lines around the mistake, which may hold a token.
		return Channels{}, fmt.Errorf("notifications: %s: %s", name, yaml.FormatError(err, false, false))
	}
	c, err := f.channels(log)
	if err != nil {
		return Channels{}, fmt.Errorf("notifications: %s: %w", name, err)
	}
	return c, nil
}

func (f file) channels(log *slog.Logger) (Channels, error) {
	c := Channels{client: outbound.NewClient(outbound.HTTPConfig{})}
	var bad []error
	var all []notices.Subscription
	for i, one := range f.Channels {
		made, err := one.make(f.Link, log, c.client)
		if err != nil {
			bad = append(bad, fmt.Errorf("channel %q: %w", cmp.Or(one.Name, fmt.Sprint(i)), err))
			continue
		}
		all = append(all, notices.Subscription{Channel: made, Events: one.Events})
	}
	if err := errors.Join(bad...); err != nil {
		return Channels{}, err
	}
	var err error
	c.Set, err = notices.NewSet(all...)
	return c, err
}

// make makes the channel, which is exactly one of the kinds.
func (c channel) make(link string, log *slog.Logger, client *outbound.Client) (notices.Channel, error) {
	kinds := 0
	for _, there := range []bool{c.Webhook != nil, c.Mail != nil, c.Log != nil} {
		if there {
			kinds++
		}
	}
	switch {
	case c.Name == "":
		return nil, errors.New("name must be set")
	case kinds != 1:
		return nil, errors.New("exactly one of webhook, mail and log must be set")
	case c.Webhook != nil:
		config, err := c.Webhook.config()
		if err != nil {
			return nil, err
		}
		return newWebhook(c.Name, link, config, client)
	case c.Mail != nil:
		config, err := c.Mail.config()
		if err != nil {
			return nil, err
		}
		return newMail(c.Name, link, config)
	default:
		return &logged{name: c.Name, link: link, log: log}, nil
	}
}

func (w webhookFile) config() (WebhookConfig, error) {
	c := WebhookConfig{URL: w.URL, Headers: map[string]string{}}
	maps.Copy(c.Headers, w.Headers)
	if !w.URLFrom.IsZero() {
		if w.URL != "" {
			return c, errors.New("webhook.url and webhook.url_from must not both be set")
		}
		var err error
		if c.URL, err = w.URLFrom.Read(); err != nil {
			return c, fmt.Errorf("webhook.url_from: %w", err)
		}
	}
	for name, from := range w.SecretHeaders {
		value, err := from.Read()
		if err != nil {
			return c, fmt.Errorf("webhook.secret_headers.%s: %w", name, err)
		}
		c.Headers[name] = value
	}
	var err error
	c.Timeout, err = timeout("webhook", w.Timeout)
	return c, err
}

func (m mailFile) config() (MailConfig, error) {
	c := MailConfig{Server: m.Server, TLS: m.TLS, CAFile: m.CAFile, Username: m.Username, From: m.From, To: m.To}
	var err error
	if !m.Password.IsZero() {
		if c.Password, err = m.Password.Read(); err != nil {
			return c, fmt.Errorf("mail.password: %w", err)
		}
	}
	c.Timeout, err = timeout("mail", m.Timeout)
	return c, err
}

func timeout(kind, text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return 0, fmt.Errorf("%s.timeout %q is not a duration such as 5s", kind, text)
	}
	return d, nil
}
