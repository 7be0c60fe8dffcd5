package channels

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"gnomon/notices"
	"gnomon/outbound"
)

// defaultTimeout bounds one call of a channel.
const defaultTimeout = 10 * time.Second

// maxTimeout is the longest that a channel may be given.
const maxTimeout = time.Minute

// WebhookConfig says where a webhook is.
type WebhookConfig struct {
	// URL is absolute, http or https. It is never shown, since some hold a token.
	// Required.
	URL string
	// Headers are sent along, such as Authorization.
	Headers map[string]string
	// Timeout bounds a call. Default 10 seconds, at most 1 minute.
	Timeout time.Duration
}

// webhook posts the Message as JSON.
type webhook struct {
	name   string
	config WebhookConfig
	link   string
	client *outbound.Client
}

func newWebhook(name, link string, c WebhookConfig, client *outbound.Client) (*webhook, error) {
	u, err := url.Parse(c.URL)
	if err != nil || !outbound.IsHTTP(u) || u.Hostname() == "" {
		// The error would show the URL.
		return nil, errors.New("webhook.url must be an absolute http or https URL")
	}
	if _, err := http.NewRequest(http.MethodPost, c.URL, http.NoBody); err != nil { //nolint:noctx // it is not sent
		return nil, errors.New("webhook.url cannot be used")
	}
	for name := range c.Headers {
		if strings.HasPrefix(strings.ToLower(name), "gnomon-") || strings.EqualFold(name, "Idempotency-Key") {
			return nil, fmt.Errorf("webhook.headers: %q is gnomon's to set", name)
		}
	}
	c.Timeout = cmp.Or(c.Timeout, defaultTimeout)
	if c.Timeout < 0 || c.Timeout > maxTimeout {
		return nil, fmt.Errorf("webhook.timeout is %s and must be above 0s and at most %s", c.Timeout, maxTimeout)
	}
	return &webhook{name: name, config: c, link: link, client: client}, nil
}

// Name implements notices.Channel.
func (w *webhook) Name() string { return w.name }

// Send implements notices.Channel. Any answer but 2xx is an error; redirects are not
// followed.
func (w *webhook) Send(ctx context.Context, n notices.Notice) error {
	body, err := json.Marshal(messageOf(n, w.link))
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.config.URL, bytes.NewReader(body))
	if err != nil {
		return errors.New("webhook.url cannot be used")
	}
	req.Header.Set("User-Agent", outbound.UserAgent)
	req.Header.Set("Content-Type", "application/json")
	for name, value := range w.config.Headers {
		req.Header.Set(name, value)
	}
	req.Header.Set("Idempotency-Key", n.Key)
	req.Header.Set("Gnomon-Event", n.Event)
	r, err := w.client.Do(req, outbound.Call{Limit: w.config.Timeout, Redirects: outbound.NoRedirects})
	if err != nil {
		return err
	}
	if r.Status < 200 || r.Status > 299 {
		return fmt.Errorf("%s answered with status %d", r.Place, r.Status)
	}
	return nil
}
