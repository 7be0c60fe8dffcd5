package publish

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"regexp"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"

	"gnomon/outbound"
	"gnomon/secrets"
)

// Formats of the records of the topic of all. Those of a stage's own topic are always
// FormatProtobuf, as a state may be of any type, and JSON has those only that one knows.
const (
	FormatProtobuf = "protobuf"
	FormatJSON     = "json"
)

// Mechanisms of SASL.
const (
	SASLPlain       = "plain"
	SASLScramSHA256 = "scram-sha-256"
	SASLScramSHA512 = "scram-sha-512"
)

const (
	// DefaultKafkaTimeout bounds how long a record that was not sent may wait.
	DefaultKafkaTimeout = 10 * time.Second
	// longestKafkaPause bounds the pauses between tries to reach a broker.
	longestKafkaPause = 2 * time.Second
	firstKafkaPause   = 100 * time.Millisecond
	kafkaDialTimeout  = 5 * time.Second
	// maxKafkaBuffer bounds what waits for brokers that are down, in bytes.
	maxKafkaBuffer = 64 << 20
	// longestTopic is Kafka's limit, of which the name of a stage takes up to 63.
	longestTopic  = 249
	longestPrefix = longestTopic - 63
)

// KafkaConfig says where Kafka is and what goes where.
type KafkaConfig struct {
	// Brokers are host:port, of which one has to answer. Required.
	Brokers []string
	// Topic gets all records, without any stage's state. Empty: there is none.
	Topic string
	// StageTopicPrefix and the name of a stage are the topic that gets the records of that
	// stage's commits, with its state. Empty: there are none. Topic or this is required.
	StageTopicPrefix string
	// Format of Topic's records. Default FormatProtobuf.
	Format string
	// TLS secures the connections; nil: nothing does.
	TLS *outbound.TLS
	// SASL is the mechanism by which User proves itself by Password. Empty: it does not.
	SASL, User string
	Password   secrets.Source
	// Timeout is after how long a record is given up that could not be sent. Default
	// DefaultKafkaTimeout.
	Timeout time.Duration
	// Logger receives the warnings of the client. Default slog.Default().
	Logger *slog.Logger
}

func (c KafkaConfig) withDefaults() KafkaConfig {
	if c.Format == "" {
		c.Format = FormatProtobuf
	}
	if c.Timeout == 0 {
		c.Timeout = DefaultKafkaTimeout
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	return c
}

var topicName = regexp.MustCompile(`^[a-zA-Z0-9._-]+$`)

// Validate says what is wrong, with a line for each flag. It touches neither files nor
// the network.
func (c KafkaConfig) Validate() error {
	c = c.withDefaults()
	var bad []error
	say := func(text string, args ...any) { bad = append(bad, fmt.Errorf(text, args...)) }
	if len(c.Brokers) == 0 {
		say("--kafka-brokers must be set where --publish has kafka")
	}
	for _, broker := range c.Brokers {
		if host, port, err := net.SplitHostPort(broker); err != nil || host == "" || port == "" {
			say("--kafka-brokers: %q must be host:port", broker)
		}
	}
	if c.Topic == "" && c.StageTopicPrefix == "" {
		say("--kafka-topic or --kafka-stage-topic-prefix must be set where --publish has kafka")
	}
	for _, n := range []struct {
		flag, value string
		most        int
	}{{"--kafka-topic", c.Topic, longestTopic}, {"--kafka-stage-topic-prefix", c.StageTopicPrefix, longestPrefix}} {
		if n.value != "" && (len(n.value) > n.most || !topicName.MatchString(n.value)) {
			say("%s is %q and must be at most %d letters, digits, '.', '_' and '-'", n.flag, n.value, n.most)
		}
	}
	if c.Format != FormatProtobuf && c.Format != FormatJSON {
		say("--kafka-format is %q and must be %s or %s", c.Format, FormatProtobuf, FormatJSON)
	}
	if t := c.TLS; t != nil && (t.CertFile == "") != (t.KeyFile == "") {
		say("--kafka-tls-cert and --kafka-tls-key must be set both or neither")
	}
	switch c.SASL {
	case "":
		if c.User != "" || !c.Password.IsZero() {
			say("--kafka-user and --kafka-password-file need --kafka-sasl")
		}
	case SASLPlain, SASLScramSHA256, SASLScramSHA512:
		if c.User == "" || c.Password.IsZero() {
			say("--kafka-sasl needs --kafka-user and --kafka-password-file")
		}
	default:
		say("--kafka-sasl is %q and must be %s, %s or %s", c.SASL, SASLPlain, SASLScramSHA256, SASLScramSHA512)
	}
	if c.Timeout < time.Second || c.Timeout > time.Hour {
		say("the time limit of Kafka is %s and must be 1s to 1h", c.Timeout)
	}
	return errors.Join(bad...)
}

// options reads files and secrets.
func (c KafkaConfig) options() ([]kgo.Opt, error) {
	options := []kgo.Opt{
		kgo.SeedBrokers(c.Brokers...),
		kgo.ClientID("gnomon"),
		kgo.WithLogger(leveled{c.Logger}),
		kgo.DialTimeout(kafkaDialTimeout),
		// Acknowledged by all replicas in sync; idempotent, so that what the client itself
		// repeats is there once and in order. Both are the client's defaults.
		kgo.RequiredAcks(kgo.AllISRAcks()),
		kgo.RecordDeliveryTimeout(c.Timeout),
		kgo.MaxBufferedBytes(maxKafkaBuffer),
		kgo.RetryBackoffFn(pause),
		// How soon a topic that was made, or a partition that moved, is found.
		kgo.MetadataMinAge(longestKafkaPause / 2),
	}
	if c.TLS != nil {
		config, err := c.TLS.Config("--kafka-tls-ca", "--kafka-tls-cert and --kafka-tls-key")
		if err != nil {
			return nil, err
		}
		options = append(options, kgo.DialTLSConfig(config))
	}
	if c.SASL == "" {
		return options, nil
	}
	password, err := c.Password.Read()
	if err != nil {
		return nil, fmt.Errorf("--kafka-password-file: %w", err)
	}
	return append(options, kgo.SASL(mechanism(c.SASL, c.User, password))), nil
}

func mechanism(name, user, password string) sasl.Mechanism {
	switch name {
	case SASLScramSHA256:
		return scram.Auth{User: user, Pass: password}.AsSha256Mechanism()
	case SASLScramSHA512:
		return scram.Auth{User: user, Pass: password}.AsSha512Mechanism()
	default:
		return plain.Auth{User: user, Pass: password}.AsMechanism()
	}
}

// pause lies before the n-th try, from 1.
func pause(n int) time.Duration {
	return min(firstKafkaPause<<min(n-1, 5), longestKafkaPause)
}
