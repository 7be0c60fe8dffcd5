package publish

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"

	"github.com/twmb/franz-go/pkg/kgo"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// Headers of a Kafka record. They are part of the public contract.
const (
	HeaderCommitID    = "gnomon-commit-id"
	HeaderSequence    = "gnomon-sequence"
	HeaderContentType = "content-type"
)

// Values of the header content-type.
const (
	ContentTypeProtobuf = "application/x-protobuf; messageType=gnomon.v1.SavedRecord"
	ContentTypeJSON     = "application/json"
)

// kafka publishes to topics.
type kafka struct {
	config KafkaConfig
	client *kgo.Client
}

// Kafka publishes to Kafka, see docs/published-records.md. Records of one entity have
// one key and so one partition, where they stay in order; a record counts as published
// when all replicas in sync have it. Nothing is dialled yet.
func Kafka(c KafkaConfig) (Publisher, error) {
	c = c.withDefaults()
	if err := c.Validate(); err != nil {
		return nil, err
	}
	options, err := c.options()
	if err != nil {
		return nil, err
	}
	client, err := kgo.NewClient(options...)
	if err != nil {
		return nil, fmt.Errorf("the client of Kafka: %w", err)
	}
	return &kafka{config: c, client: client}, nil
}

// Publish implements Publisher. One record after the other: were the second sent before
// the first is known to be safe, it could get there without it.
func (k *kafka) Publish(ctx context.Context, records []*gnomonv1.SavedRecord) error {
	for _, r := range records {
		all, err := k.messages(r)
		if err != nil {
			return fmt.Errorf("Kafka: record %d of %s: %w", r.GetSequence(), keyOf(r), err)
		}
		if err := k.produce(ctx, all); err != nil {
			return fmt.Errorf("Kafka: record %d of %s: %w", r.GetSequence(), keyOf(r), err)
		}
	}
	return nil
}

// produce sends a record's messages, each to its topic, and waits until they are safe.
func (k *kafka) produce(ctx context.Context, all []*kgo.Record) error {
	// What was sent and not answered is not given up by the client, which cannot know
	// whether it is there. That is no reason to hold up the caller, who asks again: the
	// repetition comes after it in its partition.
	done := make(chan error, len(all))
	for _, one := range all {
		// The caller's end must not fail what others have in the same partition.
		k.client.TryProduce(context.WithoutCancel(ctx), one, func(_ *kgo.Record, err error) { done <- err })
	}
	var errs []error
	for range all {
		select {
		case err := <-done:
			errs = append(errs, err)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return errors.Join(errs...)
}

// messages are a record for all, without any state, and with the state for the stage that
// made it (G-13).
func (k *kafka) messages(r *gnomonv1.SavedRecord) ([]*kgo.Record, error) {
	var all []*kgo.Record
	if k.config.Topic != "" {
		value, contentType, err := k.encode(withoutState(r))
		if err != nil {
			return nil, err
		}
		all = append(all, message(k.config.Topic, r, value, contentType))
	}
	if k.config.StageTopicPrefix != "" && r.GetStage() != "" {
		value, err := proto.Marshal(r)
		if err != nil {
			return nil, err
		}
		all = append(all, message(k.config.StageTopicPrefix+r.GetStage(), r, value, ContentTypeProtobuf))
	}
	return all, nil
}

func (k *kafka) encode(r *gnomonv1.SavedRecord) (value []byte, contentType string, err error) {
	if k.config.Format == FormatJSON {
		value, err = protojson.Marshal(r)
		return value, ContentTypeJSON, err
	}
	value, err = proto.Marshal(r)
	return value, ContentTypeProtobuf, err
}

// message leaves the timestamp to the client, which counts a record's time limit from it.
func message(topic string, r *gnomonv1.SavedRecord, value []byte, contentType string) *kgo.Record {
	return &kgo.Record{
		Topic: topic, Key: []byte(keyOf(r)), Value: value,
		Headers: []kgo.RecordHeader{
			{Key: HeaderContentType, Value: []byte(contentType)},
			{Key: HeaderCommitID, Value: []byte(r.GetCommitId())},
			{Key: HeaderSequence, Value: []byte(strconv.FormatInt(r.GetSequence(), 10))},
		},
	}
}

// keyOf has all records of an entity go to one partition.
func keyOf(r *gnomonv1.SavedRecord) string {
	return r.GetEntity().GetType() + "/" + r.GetEntity().GetId()
}

// Close implements Publisher. What is not safe yet is given up: who asked for it asks
// again.
func (k *kafka) Close() error {
	k.client.Close()
	return nil
}

// leveled has the client's own words in the log, from warnings on.
type leveled struct{ log *slog.Logger }

// Level implements kgo.Logger.
func (leveled) Level() kgo.LogLevel { return kgo.LogLevelWarn }

// Log implements kgo.Logger.
func (l leveled) Log(level kgo.LogLevel, message string, pairs ...any) {
	to := slog.LevelWarn
	if level == kgo.LogLevelError {
		to = slog.LevelError
	}
	l.log.Log(context.Background(), to, "Kafka: "+message, pairs...)
}
