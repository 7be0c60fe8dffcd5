package serve

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"github.com/spf13/pflag"

	"gnomon/outbound"
	"gnomon/publish"
	"gnomon/stages"
)

// What --publish may have.
const (
	toLog     = "log"
	toKafka   = "kafka"
	toOnSaved = "onsaved"
)

// PublishFlags are the flags for where saved entities are published.
type PublishFlags struct {
	to      []string
	kafka   publish.KafkaConfig
	tls     outbound.TLS
	withTLS bool
}

// Register adds the flags.
func (p *PublishFlags) Register(f *pflag.FlagSet) {
	f.StringSliceVar(&p.to, "publish", []string{toLog, toOnSaved}, "where saved entities are published: log, kafka, onsaved (the stages that ask for it), see docs/published-records.md; empty: nowhere (env GNOMON_PUBLISH)")
	f.StringSliceVar(&p.kafka.Brokers, "kafka-brokers", nil, "host:port of brokers of Kafka, of which one has to answer (env GNOMON_KAFKA_BROKERS)")
	f.StringVar(&p.kafka.Topic, "kafka-topic", "", "topic of all records, without the stages' states (env GNOMON_KAFKA_TOPIC)")
	f.StringVar(&p.kafka.StageTopicPrefix, "kafka-stage-topic-prefix", "", "with the name of a stage, the topic of its own records with its state; such topics are private to the stage (env GNOMON_KAFKA_STAGE_TOPIC_PREFIX)")
	f.StringVar(&p.kafka.Format, "kafka-format", publish.FormatProtobuf, "format of the records of --kafka-topic, protobuf or json (env GNOMON_KAFKA_FORMAT)")
	f.DurationVar(&p.kafka.Timeout, "kafka-timeout", publish.DefaultKafkaTimeout, "after how long a record is given up that could not be sent; it is tried again (env GNOMON_KAFKA_TIMEOUT)")
	f.BoolVar(&p.withTLS, "kafka-tls", false, "speak TLS to Kafka; the other --kafka-tls flags need it (env GNOMON_KAFKA_TLS)")
	f.StringVar(&p.tls.CAFile, "kafka-tls-ca", "", "PEM file of the authorities to trust, default the system's (env GNOMON_KAFKA_TLS_CA)")
	f.StringVar(&p.tls.CertFile, "kafka-tls-cert", "", "PEM file of the client's certificate, read again for every connection (env GNOMON_KAFKA_TLS_CERT)")
	f.StringVar(&p.tls.KeyFile, "kafka-tls-key", "", "PEM file of the client's key (env GNOMON_KAFKA_TLS_KEY)")
	f.StringVar(&p.tls.ServerName, "kafka-tls-server-name", "", "name that the brokers' certificates must have, default the address's host (env GNOMON_KAFKA_TLS_SERVER_NAME)")
	f.StringVar(&p.kafka.SASL, "kafka-sasl", "", "how --kafka-user proves itself: plain, scram-sha-256, scram-sha-512, or empty (env GNOMON_KAFKA_SASL)")
	f.StringVar(&p.kafka.User, "kafka-user", "", "user of Kafka (env GNOMON_KAFKA_USER)")
	f.StringVar(&p.kafka.Password.File, "kafka-password-file", "", "file that holds the user's password (env GNOMON_KAFKA_PASSWORD_FILE)")
}

// Open makes the publisher that the flags, set by now, ask for. It is to be closed.
func (p *PublishFlags) Open(set *stages.Set, log *slog.Logger) (publish.Publisher, error) {
	for i, to := range p.to {
		if !slices.Contains([]string{toLog, toKafka, toOnSaved}, to) {
			return nil, fmt.Errorf("--publish has %q, which is none of log, kafka and onsaved", to)
		}
		if slices.Contains(p.to[:i], to) {
			return nil, fmt.Errorf("--publish has %s twice", to)
		}
	}
	var all []publish.Publisher
	if slices.Contains(p.to, toLog) {
		all = append(all, publish.Log(log))
	}
	if slices.Contains(p.to, toOnSaved) {
		all = append(all, publish.OnSaved(set))
	}
	if slices.Contains(p.to, toKafka) {
		made, err := p.openKafka(log)
		if err != nil {
			return nil, err
		}
		all = append(all, made)
	}
	return publish.Multi(all...), nil
}

func (p *PublishFlags) openKafka(log *slog.Logger) (publish.Publisher, error) {
	config := p.kafka
	config.Logger = log
	switch {
	case p.withTLS:
		config.TLS = &p.tls
	case p.tls != outbound.TLS{}:
		return nil, errors.New("--kafka-tls must be given where other --kafka-tls flags are")
	}
	return publish.Kafka(config)
}
