package channels_test

import (
	"bytes"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/notices"
	"gnomon/notices/channels"
)

// Without a configuration everything is in the log.
func TestDefaultIsTheLog(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	c := channels.Default(slog.New(slog.NewTextHandler(&out, nil)))
	require.NoError(t, c.Close())
	for _, event := range []string{notices.ScheduledChangeFailed, notices.BatchComplete, notices.BatchPartialFailure, notices.BatchFailed, notices.BatchCancelled} {
		require.Len(t, c.For(event), 1)
	}
	require.NoError(t, c.For(notices.BatchFailed)[0].Send(t.Context(), review(2)))
	require.Contains(t, out.String(), "level=WARN")
	require.Contains(t, out.String(), `msg="Batch release:7 needs a review (ScheduledChangeFailed)."`)
	require.Contains(t, out.String(), `problems="[batch RECORD_EXISTS 0 RECORD_EXISTS]"`)
	require.NotContains(t, out.String(), "secret")

	out.Reset()
	done := review(0)
	done.Event, done.Batch.Status.State = notices.BatchComplete, gnomonv1.BatchStatus_COMPLETE
	require.NoError(t, c.For(notices.BatchComplete)[0].Send(t.Context(), done))
	require.Contains(t, out.String(), `level=INFO msg="Batch release:7 ended: COMPLETE."`)
}

// V-17: who wants which outcomes.
func TestLoad(t *testing.T) {
	t.Parallel()
	c, err := load(t, `
channels:
  - name: on-call
    webhook: {url: http://127.0.0.1:1}
    events: [BatchFailed, BatchPartialFailure]
  - name: log
    log: {}
`)
	require.NoError(t, err)
	require.Len(t, c.For(notices.ScheduledChangeFailed), 2)
	require.Len(t, c.For(notices.BatchFailed), 1)
	require.Empty(t, c.For(notices.BatchComplete))
	require.NoError(t, c.Close())
}

// Errors name the channel and the field, never a secret.
func TestLoadSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	const to = "server: 'h:25', from: a@b.test, to: [c@d.test]"
	for want, config := range map[string]string{
		"notifications.yaml: ":                                     "channels: s3cret",
		`unknown field "web"`:                                      "channels: [{name: a, web: {url: 'http://h/s3cret'}}]",
		`channel "0": name must be set`:                            "channels: [{log: {}}]",
		`channel "a": exactly one of webhook, mail and log`:        "channels: [{name: a}]",
		`channel "b": exactly one of webhook, mail and log`:        "channels: [{name: b, log: {}, webhook: {url: 'http://h'}}]",
		`two channels have the name "a"`:                           "channels: [{name: a, log: {}}, {name: a, log: {}}]",
		`channel "a" wants the event "Sunrise"`:                    "channels: [{name: a, log: {}, events: [Sunrise]}]",
		"webhook.url must be an absolute":                          "channels: [{name: a, webhook: {url: 's3cret'}}]",
		"webhook.url must be an absolute http":                     "channels: [{name: a, webhook: {url: 'ftp://h/s3cret'}}]",
		"webhook.url and webhook.url_from":                         "channels: [{name: a, webhook: {url: 'http://h', url_from: {env: X}}}]",
		"webhook.url_from: the environment has no variable X_NONE": "channels: [{name: a, webhook: {url_from: {env: X_NONE}}}]",
		"webhook.secret_headers.Authorization: open /none/s":       "channels: [{name: a, webhook: {url: 'http://h', secret_headers: {Authorization: {file: /none/s}}}}]",
		`webhook.headers: "gnomon-x" is gnomon's to set`:           "channels: [{name: a, webhook: {url: 'http://h', headers: {gnomon-x: s3cret}}}]",
		`webhook.timeout "soon" is not a duration`:                 "channels: [{name: a, webhook: {url: 'http://h', timeout: soon}}]",
		"webhook.timeout is 2m0s":                                  "channels: [{name: a, webhook: {url: 'http://h', timeout: 2m}}]",
		`mail.server "h" must be host:port`:                        "channels: [{name: a, mail: {server: h, from: a@b.test, to: [c@d.test]}}]",
		`mail.server "h:99999" must be host:port`:                  "channels: [{name: a, mail: {server: 'h:99999', from: a@b.test, to: [c@d.test]}}]",
		"mail.from: ":                    "channels: [{name: a, mail: {server: 'h:25', to: [c@d.test]}}]",
		"mail.to must have at least one": "channels: [{name: a, mail: {server: 'h:25', from: a@b.test}}]",
		"mail.to: ":                      "channels: [{name: a, mail: {server: 'h:25', from: a@b.test, to: [x]}}]",
		`mail.tls "maybe" must be starttls, tls or none`:             "channels: [{name: a, mail: {" + to + ", tls: maybe}}]",
		"mail.ca_file: open /none/ca":                                "channels: [{name: a, mail: {" + to + ", ca_file: /none/ca}}]",
		"mail.ca_file: /dev/null holds no certificate":               "channels: [{name: a, mail: {" + to + ", ca_file: /dev/null}}]",
		"mail.username and mail.password must be set both":           "channels: [{name: a, mail: {" + to + ", username: u}}]",
		"mail.password must not be sent without TLS":                 "channels: [{name: a, mail: {" + to + ", username: u, password: {env: PATH}, tls: none}}]",
		"mail.password: the environment has no variable X_NONE":      "channels: [{name: a, mail: {" + to + ", username: u, password: {env: X_NONE}}}]",
		"mail.timeout is 1h0m0s and must be above 0s and at most 1m": "channels: [{name: a, mail: {" + to + ", timeout: 1h}}]",
	} {
		_, err := load(t, config)
		require.ErrorContains(t, err, want, config)
		require.NotContains(t, err.Error(), "s3cret")
	}
	_, err := channels.Load("/none/notifications.yaml", nil)
	require.ErrorContains(t, err, "no such file")
}
