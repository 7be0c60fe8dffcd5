package publish_test

import (
	"context"
	"crypto/tls"
	"encoding/pem"
	"fmt"
	"log/slog"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/outbound"
	"gnomon/publish"
	"gnomon/secrets"
)

const (
	topic  = "saved"
	prefix = "stage."
)

func cluster(t *testing.T, options ...kfake.Opt) *kfake.Cluster {
	t.Helper()
	c, err := kfake.NewCluster(append([]kfake.Opt{
		kfake.NumBrokers(3), kfake.SeedTopics(8, topic, prefix+"price"),
		kfake.ListenFn(func(network, address string) (net.Listener, error) {
			var listen net.ListenConfig
			return listen.Listen(context.Background(), network, address)
		}),
	}, options...)...)
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return c
}

func kafka(t *testing.T, c *kfake.Cluster, change func(*publish.KafkaConfig)) publish.Publisher {
	t.Helper()
	config := publish.KafkaConfig{Brokers: c.ListenAddrs(), Topic: topic, Logger: slog.New(slog.DiscardHandler)}
	if change != nil {
		change(&config)
	}
	p, err := publish.Kafka(config)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.Close()) })
	return p
}

// record is the n-th of an offer, by the stage if there is one.
func record(id string, n int64, stage string) *gnomonv1.SavedRecord {
	content, err := structpb.NewStruct(map[string]any{"price": 7, "secret": "content"})
	if err != nil {
		panic(err)
	}
	r := &gnomonv1.SavedRecord{
		Entity: &gnomonv1.Entity{Type: "offer", Id: id, Content: content, Version: n}, Sequence: n, Stage: stage, Changed: true,
		CommitTime: timestamppb.New(time.UnixMilli(1790000000000 + n)), CommitId: fmt.Sprintf("%s-%d", id, n),
	}
	if stage != "" {
		kept, err := anypb.New(wrapperspb.String("private of " + stage))
		if err != nil {
			panic(err)
		}
		r.State = &gnomonv1.StageState{State: kept, Version: n}
	}
	return r
}

// consume reads so many records of a topic.
func consume(t *testing.T, c *kfake.Cluster, topic string, atLeast int) []*kgo.Record {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(c.ListenAddrs()...), kgo.ConsumeTopics(topic), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	require.NoError(t, err)
	defer client.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	var all []*kgo.Record
	for len(all) < atLeast {
		fetches := client.PollFetches(ctx)
		require.NoError(t, ctx.Err(), "%d of %d records", len(all), atLeast)
		all = append(all, fetches.Records()...)
	}
	return all
}

func header(r *kgo.Record, key string) string {
	for _, h := range r.Headers {
		if h.Key == key {
			return string(h.Value)
		}
	}
	return ""
}

// The record's format: key, value, headers; what is for all has no state, and
// a stage's own topic has its own (G-13).
func TestKafkaRecords(t *testing.T) {
	t.Parallel()
	c := cluster(t)
	p := kafka(t, c, func(c *publish.KafkaConfig) { c.StageTopicPrefix = prefix })
	put, done := record("1", 1, ""), record("1", 2, "price")
	require.NoError(t, p.Publish(t.Context(), []*gnomonv1.SavedRecord{put, done}))

	public := proto.CloneOf(done)
	public.State = nil
	for i, got := range consume(t, c, topic, 2) {
		want := []*gnomonv1.SavedRecord{put, public}[i]
		require.Equal(t, "offer/1", string(got.Key))
		require.Equal(t, want.GetCommitId(), header(got, publish.HeaderCommitID))
		require.Equal(t, strconv.FormatInt(want.GetSequence(), 10), header(got, publish.HeaderSequence))
		require.Equal(t, "application/x-protobuf; messageType=gnomon.v1.SavedRecord", header(got, publish.HeaderContentType))
		value := &gnomonv1.SavedRecord{}
		require.NoError(t, proto.Unmarshal(got.Value, value))
		require.True(t, proto.Equal(want, value), value)
	}
	require.NotNil(t, done.GetState(), "what was given stays as it is")
	own := consume(t, c, prefix+"price", 1)
	require.Len(t, own, 1)
	value := &gnomonv1.SavedRecord{}
	require.NoError(t, proto.Unmarshal(own[0].Value, value))
	require.True(t, proto.Equal(done, value), value)
	require.Equal(t, "offer/1", string(own[0].Key))
}

func TestKafkaRecordsAsJSON(t *testing.T) {
	t.Parallel()
	c := cluster(t)
	p := kafka(t, c, func(c *publish.KafkaConfig) { c.Format = publish.FormatJSON })
	require.NoError(t, p.Publish(t.Context(), []*gnomonv1.SavedRecord{record("1", 2, "price")}))
	got := consume(t, c, topic, 1)[0]
	require.Equal(t, "application/json", header(got, publish.HeaderContentType))
	value, want := &gnomonv1.SavedRecord{}, record("1", 2, "price")
	require.NoError(t, protojson.Unmarshal(got.Value, value))
	want.State = nil
	require.True(t, proto.Equal(want, value), string(got.Value))
}

// publishAll publishes the records 1 to n of so many offers, as the worker does: each
// offer's by one caller, in order, and again after an error.
func publishAll(t *testing.T, p publish.Publisher, offers, n int) (errors int) {
	t.Helper()
	var publishing sync.WaitGroup
	var mu sync.Mutex
	for i := range offers {
		publishing.Go(func() {
			for sequence := 1; sequence <= n; {
				some := []*gnomonv1.SavedRecord{record(strconv.Itoa(i), int64(sequence), "")}
				if sequence < n {
					some = append(some, record(strconv.Itoa(i), int64(sequence+1), ""))
				}
				ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
				err := p.Publish(ctx, some)
				cancel()
				if t.Context().Err() != nil {
					return
				}
				if err != nil {
					mu.Lock()
					errors++
					mu.Unlock()
					continue
				}
				sequence += len(some)
			}
		})
	}
	publishing.Wait()
	return errors
}

// requireInOrder: each offer's records are in one partition and, without those that come
// again, in the order of their sequence with none missing (G-12).
func requireInOrder(t *testing.T, all []*kgo.Record, offers, n int) {
	t.Helper()
	greatest, partition := map[string]int{}, map[string]int32{}
	for _, r := range all {
		key := string(r.Key)
		sequence, err := strconv.Atoi(header(r, publish.HeaderSequence))
		require.NoError(t, err)
		require.LessOrEqual(t, sequence, greatest[key]+1, "%s: after %d", key, greatest[key])
		greatest[key] = max(greatest[key], sequence)
		if before, seen := partition[key]; seen {
			require.Equal(t, before, r.Partition, key)
		}
		partition[key] = r.Partition
	}
	require.Len(t, greatest, offers)
	for key, last := range greatest {
		require.Equal(t, n, last, key)
	}
}

// end is how many records there are.
func end(t *testing.T, c *kfake.Cluster) int {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(c.ListenAddrs()...))
	require.NoError(t, err)
	defer client.Close()
	request := kmsg.NewPtrListOffsetsRequest()
	request.ReplicaID = -1
	of := kmsg.NewListOffsetsRequestTopic()
	of.Topic = topic
	for i := range int32(8) {
		p := kmsg.NewListOffsetsRequestTopicPartition()
		p.Partition, p.Timestamp = i, -1
		of.Partitions = append(of.Partitions, p)
	}
	request.Topics = append(request.Topics, of)
	total := 0
	for _, shard := range client.RequestSharded(t.Context(), request) {
		require.NoError(t, shard.Err)
		for _, one := range shard.Resp.(*kmsg.ListOffsetsResponse).Topics {
			for _, p := range one.Partitions {
				total += int(p.Offset)
			}
		}
	}
	return total
}

// G-12: with brokers that refuse, lose their answers, drop connections and hand partitions
// over, every record is there at least once and for one entity in order.
func TestKafkaUnderFaults(t *testing.T) {
	t.Parallel()
	c := cluster(t)
	p := kafka(t, c, nil)
	produce := []kmsg.Key{kmsg.Produce}
	c.Fault(
		kfake.Fault{Keys: produce, Err: kerr.NotLeaderForPartition, Count: 5},
		kfake.Fault{Keys: produce, Err: kerr.RequestTimedOut, Count: 5},
		kfake.Fault{Keys: produce, Err: kerr.NotEnoughReplicasAfterAppend, Count: 5},
		kfake.Fault{Keys: produce, Err: kerr.MessageTooLarge, Count: 3},
		kfake.Fault{Keys: produce, Err: kerr.TopicAuthorizationFailed, Count: 3},
	)
	seen := 0
	c.ControlKey(int16(kmsg.Produce), func(kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		seen++
		switch {
		case seen%40 == 0:
			return nil, fmt.Errorf("the connection is gone"), true
		case seen%50 == 0:
			c.ShufflePartitionLeaders()
		}
		return nil, nil, false //nolint:nilnil // kfake's words for going on as usual
	})
	const offers, n = 20, 20
	failed := publishAll(t, p, offers, n)
	require.NotZero(t, failed, "some faults are beyond what the client repeats itself")
	all := end(t, c)
	t.Logf("%d records for %d, %d publications failed", all, offers*n, failed)
	requireInOrder(t, consume(t, c, topic, all), offers, n)
}

// G-12: while no broker answers, Publish fails by its caller's time and not later; when
// they are back it goes on.
func TestKafkaDownAndBack(t *testing.T) {
	t.Parallel()
	c := cluster(t)
	p := kafka(t, c, func(c *publish.KafkaConfig) { c.Timeout = time.Second })
	require.NoError(t, p.Publish(t.Context(), []*gnomonv1.SavedRecord{record("0", 1, "")}))
	var mu sync.Mutex
	down := true
	c.Control(func(kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		mu.Lock()
		defer mu.Unlock()
		if down {
			return nil, fmt.Errorf("the broker is down"), true
		}
		return nil, nil, false //nolint:nilnil // kfake's words for going on as usual
	})
	for range 3 {
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		began := time.Now()
		require.Error(t, p.Publish(ctx, []*gnomonv1.SavedRecord{record("0", 2, "")}))
		require.Less(t, time.Since(began), 2*time.Second)
		cancel()
	}
	mu.Lock()
	down = false
	mu.Unlock()
	require.Zero(t, publishAll(t, publish.Multi(p), 1, 0))
	require.Eventually(t, func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		return p.Publish(ctx, []*gnomonv1.SavedRecord{record("0", 2, ""), record("0", 3, "")}) == nil
	}, 20*time.Second, 10*time.Millisecond)
	requireInOrder(t, consume(t, c, topic, end(t, c)), 1, 3)
}

// A topic that is not there is an error that says so, and nothing is made.
func TestKafkaWithoutTopic(t *testing.T) {
	t.Parallel()
	p := kafka(t, cluster(t), func(c *publish.KafkaConfig) { c.Topic = "none" })
	err := p.Publish(t.Context(), []*gnomonv1.SavedRecord{record("0", 1, "")})
	require.ErrorContains(t, err, "record 1 of offer/0: UNKNOWN_TOPIC_OR_PARTITION")
}

// The password comes from a file, and a wrong one is refused by the broker.
func TestKafkaSASL(t *testing.T) {
	t.Parallel()
	c := cluster(t, kfake.EnableSASL(), kfake.Superuser("SCRAM-SHA-256", "gnomon", "s3cret"))
	secret := filepath.Join(t.TempDir(), "password")
	for password, ok := range map[string]bool{"s3cret\n": true, "wrong": false} {
		require.NoError(t, os.WriteFile(secret, []byte(password), 0o600))
		p := kafka(t, c, func(c *publish.KafkaConfig) {
			c.SASL, c.User, c.Password = publish.SASLScramSHA256, "gnomon", secrets.Source{File: secret}
		})
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		err := p.Publish(ctx, []*gnomonv1.SavedRecord{record("0", 1, "")})
		cancel()
		require.Equal(t, ok, err == nil, err)
	}
}

func TestKafkaConfigIsJudged(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(*publish.KafkaConfig){
		"--kafka-brokers must be set":                         func(c *publish.KafkaConfig) { c.Brokers = nil },
		`--kafka-brokers: "b" must be host:port`:              func(c *publish.KafkaConfig) { c.Brokers = []string{"b"} },
		"--kafka-topic or --kafka-stage-topic-prefix must":    func(c *publish.KafkaConfig) { c.Topic = "" },
		`--kafka-topic is "a b" and must be`:                  func(c *publish.KafkaConfig) { c.Topic = "a b" },
		`--kafka-format is "avro" and must be`:                func(c *publish.KafkaConfig) { c.Format = "avro" },
		"--kafka-user and --kafka-password-file need":         func(c *publish.KafkaConfig) { c.User = "u" },
		"--kafka-sasl needs --kafka-user":                     func(c *publish.KafkaConfig) { c.SASL = publish.SASLPlain },
		`--kafka-sasl is "gssapi" and must be`:                func(c *publish.KafkaConfig) { c.SASL = "gssapi" },
		"the time limit of Kafka is 1ms and must be 1s to 1h": func(c *publish.KafkaConfig) { c.Timeout = time.Millisecond },
		"--kafka-password-file: open ": func(c *publish.KafkaConfig) {
			c.SASL, c.User, c.Password = publish.SASLPlain, "u", secrets.Source{File: "/none"}
		},
	} {
		c := publish.KafkaConfig{Brokers: []string{"127.0.0.1:1"}, Topic: topic}
		change(&c)
		_, err := publish.Kafka(c)
		require.ErrorContains(t, err, want)
	}
}

// The brokers must be who they say.
func TestKafkaTLS(t *testing.T) {
	t.Parallel()
	identity := httptest.NewTLSServer(nil)
	defer identity.Close()
	ca := filepath.Join(t.TempDir(), "ca.pem")
	require.NoError(t, os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: identity.Certificate().Raw}), 0o600))
	c := cluster(t, kfake.TLS(&tls.Config{Certificates: identity.TLS.Certificates, MinVersion: tls.VersionTLS12}))
	for name, tt := range map[string]struct {
		tls *outbound.TLS
		ok  bool
	}{
		"trusted":       {&outbound.TLS{CAFile: ca}, true},
		"another name":  {&outbound.TLS{CAFile: ca, ServerName: "example.com"}, true},
		"a wrong name":  {&outbound.TLS{CAFile: ca, ServerName: "other.test"}, false},
		"not trusted":   {&outbound.TLS{}, false},
		"no TLS at all": {nil, false},
	} {
		p := kafka(t, c, func(c *publish.KafkaConfig) { c.TLS, c.Timeout = tt.tls, time.Second })
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		err := p.Publish(ctx, []*gnomonv1.SavedRecord{record("0", 1, "")})
		cancel()
		require.Equal(t, tt.ok, err == nil, "%s: %v", name, err)
	}
}
