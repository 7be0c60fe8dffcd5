package serve_test

import (
	"bytes"
	"context"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kfake"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/serve"
	"gnomon/stages"
)

// published opens what the flags ask for.
func published(t *testing.T, log *slog.Logger, args ...string) (publish func() error, err error) {
	t.Helper()
	var p serve.PublishFlags
	f := pflag.NewFlagSet("test", pflag.ContinueOnError)
	p.Register(f)
	require.NoError(t, f.Parse(args))
	publisher, err := p.Open(stages.NewSet(), log)
	if err != nil {
		return nil, err
	}
	t.Cleanup(func() { require.NoError(t, publisher.Close()) })
	return func() error {
		return publisher.Publish(t.Context(), []*gnomonv1.SavedRecord{{Entity: &gnomonv1.Entity{Type: "offer", Id: "1"}, CommitId: "c1"}})
	}, nil
}

func TestPublishFlags(t *testing.T) {
	t.Parallel()
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(1, "saved"), kfake.EnableSASL(), kfake.Superuser("PLAIN", "gnomon", "s3cret"), kfake.ListenFn(func(network, address string) (net.Listener, error) {
		var listen net.ListenConfig
		return listen.Listen(context.Background(), network, address)
	}))
	require.NoError(t, err)
	t.Cleanup(cluster.Close)
	password := filepath.Join(t.TempDir(), "password")
	require.NoError(t, os.WriteFile(password, []byte("s3cret\n"), 0o600))
	kafka := []string{"--kafka-brokers", cluster.ListenAddrs()[0], "--kafka-topic", "saved", "--kafka-sasl", "plain", "--kafka-user", "gnomon", "--kafka-password-file", password}
	for _, tt := range []struct {
		args   []string
		logged bool
	}{
		{nil, true},
		{[]string{"--publish", ""}, false},
		{[]string{"--publish", "onsaved"}, false},
		{append([]string{"--publish", "kafka,log"}, kafka...), true},
		{append([]string{"--publish", "kafka"}, kafka...), false},
	} {
		var log bytes.Buffer
		publish, err := published(t, slog.New(slog.NewTextHandler(&log, nil)), tt.args...)
		require.NoError(t, err, tt.args)
		require.NoError(t, publish(), tt.args)
		require.Equal(t, tt.logged, bytes.Contains(log.Bytes(), []byte("commit=c1")), tt.args)
	}
}

func TestPublishFlagsAreJudged(t *testing.T) {
	t.Parallel()
	for want, args := range map[string][]string{
		`--publish has "mail", which is none of log, kafka and onsaved`: {"--publish", "log,mail"},
		"--publish has log twice":                                              {"--publish", "log,log"},
		"--kafka-brokers must be set where --publish has kafka":                {"--publish", "kafka"},
		"--kafka-tls must be given where other --kafka-tls flags are":          {"--publish", "kafka", "--kafka-tls-ca", "x"},
		"--kafka-tls-ca: open ":                                                {"--publish", "kafka", "--kafka-brokers", "b:1", "--kafka-topic", "t", "--kafka-tls", "--kafka-tls-ca", "/none"},
		"--kafka-topic or --kafka-stage-topic-prefix must be set where --publ": {"--publish", "kafka", "--kafka-brokers", "b:1"},
	} {
		_, err := published(t, slog.New(slog.DiscardHandler), args...)
		require.ErrorContains(t, err, want)
	}
}
