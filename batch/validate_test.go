package batch

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/rule"
)

func TestValidBatchesAreAccepted(t *testing.T) {
	t.Parallel()
	require.Empty(t, Validate(valid(), now))
	b := valid()
	b.ScheduledAt = timestamppb.New(now.Add(time.Microsecond))
	b.Changes[0].GetHttpChange().ValidateUrl = ""
	b.Changes[0].GetHttpChange().Body = nil
	b.Changes[1].GetDnsRecord().Action = gnomonv1.DnsRecordChange_DELETE
	b.Changes[1].GetDnsRecord().Data = nil
	require.Empty(t, Validate(b, now))
	require.Empty(t, Validate(Normalise(b), now))
}

// V-03: everything that is wrong is named at once, with its path.
func TestEveryViolationIsNamed(t *testing.T) {
	t.Parallel()
	http := func(b *gnomonv1.Batch) *gnomonv1.HttpChange { return b.GetChanges()[0].GetHttpChange() }
	dns := func(b *gnomonv1.Batch) *gnomonv1.DnsRecordChange { return b.GetChanges()[1].GetDnsRecord() }
	for _, tt := range []struct {
		field, broken string
		spoil         func(b *gnomonv1.Batch)
	}{
		{"id", rule.Required, func(b *gnomonv1.Batch) { b.Id = "" }},
		{"scheduled_at", rule.Required, func(b *gnomonv1.Batch) { b.ScheduledAt = nil }},
		{"scheduled_at", rule.InvalidTimestamp, func(b *gnomonv1.Batch) { b.ScheduledAt.Nanos = -1 }},
		{"scheduled_at", rule.TooEarly, func(b *gnomonv1.Batch) { b.ScheduledAt = timestamppb.New(now) }}, // V-20
		{"scheduled_at", rule.TooEarly, func(b *gnomonv1.Batch) { b.ScheduledAt = timestamppb.New(time.Unix(-1, 0)) }},
		{"changes", rule.Required, func(b *gnomonv1.Batch) { b.Changes = nil }}, // V-10
		{"changes", rule.TooMany, func(b *gnomonv1.Batch) { b.Changes = make([]*gnomonv1.Change, MaxChanges+1) }},
		{"changes[1]", rule.Required, func(b *gnomonv1.Batch) { b.Changes[1] = &gnomonv1.Change{} }},
		{"", rule.TooLong, func(b *gnomonv1.Batch) {
			big := structpb.NewStringValue(strings.Repeat("x", MaxBodySize-10))
			for len(b.GetChanges()) < 13 {
				c := httpChange()
				c.GetHttpChange().Body = big
				b.Changes = append(b.Changes, c)
			}
			b.Changes = append(b.Changes, b.GetChanges()[12])
		}},
		{`labels["Team"]`, rule.InvalidCharacter, func(b *gnomonv1.Batch) { b.Labels = map[string]string{"Team": "a"} }},
		{"comment", rule.TooLong, func(b *gnomonv1.Batch) { b.Comment = strings.Repeat("x", MaxCommentLength+1) }},

		{"changes[0].http_change.apply_url", rule.Required, func(b *gnomonv1.Batch) { http(b).ApplyUrl = "" }},
		{"changes[0].http_change.apply_url", rule.InvalidURL, func(b *gnomonv1.Batch) { http(b).ApplyUrl = "ftp://x/" }},
		{"changes[0].http_change.validate_url", rule.InvalidURL, func(b *gnomonv1.Batch) { http(b).ValidateUrl = "x" }},
		{"changes[0].http_change.timeout", rule.OutOfRange, func(b *gnomonv1.Batch) { http(b).Timeout = durationpb.New(MaxHTTPTimeout + 1) }},
		{`changes[0].http_change.headers["gnomon-x"]`, rule.Reserved, func(b *gnomonv1.Batch) { http(b).Headers = map[string]string{"gnomon-x": ""} }},
		{"changes[0].http_change.body", rule.TooLong, func(b *gnomonv1.Batch) { http(b).Body = structpb.NewStringValue(strings.Repeat("x", MaxBodySize)) }},
		{"changes[0].http_change.body", rule.Unsupported, func(b *gnomonv1.Batch) { http(b).Body = structpb.NewNumberValue(math.Inf(1)) }},
		{"changes[0].http_change.body", rule.Unsupported, func(b *gnomonv1.Batch) {
			http(b).Body = structpb.NewListValue(&structpb.ListValue{Values: []*structpb.Value{{}}})
		}},
		{"changes[0].http_change.body", rule.OutOfRange, func(b *gnomonv1.Batch) {
			for range MaxBodyDepth {
				http(b).Body = structpb.NewListValue(&structpb.ListValue{Values: []*structpb.Value{http(b).GetBody()}})
			}
		}},
		{"changes[0].http_change.body", rule.OutOfRange, func(b *gnomonv1.Batch) {
			for range MaxBodyDepth {
				http(b).Body = structpb.NewStructValue(&structpb.Struct{Fields: map[string]*structpb.Value{"a": http(b).GetBody()}})
			}
		}},

		{"changes[1].dns_record.action", rule.Required, func(b *gnomonv1.Batch) { dns(b).Action = 0 }},
		{"changes[1].dns_record.action", rule.Unsupported, func(b *gnomonv1.Batch) { dns(b).Action = 99 }},
		{"changes[1].dns_record.type", rule.Required, func(b *gnomonv1.Batch) { dns(b).Type = 0 }},
		{"changes[1].dns_record.name", rule.Required, func(b *gnomonv1.Batch) { dns(b).Name = "" }},
		{"changes[1].dns_record.name", rule.TooLong, func(b *gnomonv1.Batch) { dns(b).Name = strings.Repeat("a.", 200) }},
		{"changes[1].dns_record.ttl", rule.OutOfRange, func(b *gnomonv1.Batch) { dns(b).Ttl = math.MaxUint32 }},
		{"changes[1].dns_record.data", rule.Required, func(b *gnomonv1.Batch) { dns(b).Data = nil }},
		{"changes[1].dns_record.data", rule.Unsupported, func(b *gnomonv1.Batch) { dns(b).Action = gnomonv1.DnsRecordChange_DELETE }},
		{"changes[1].dns_record.data", rule.TooMany, func(b *gnomonv1.Batch) { dns(b).Data = make([]string, MaxRecords+1) }},
		{"changes[1].dns_record.data[0]", rule.TooLong, func(b *gnomonv1.Batch) { dns(b).Data[0] = strings.Repeat("x", MaxRecordLength+1) }},
		{"changes[1].dns_record.previous_data", rule.Unsupported, func(b *gnomonv1.Batch) { dns(b).PreviousData = []string{"192.0.2.2"} }},
		{"changes[1].dns_record.zone", rule.TooLong, func(b *gnomonv1.Batch) { dns(b).Zone = strings.Repeat("a.", 200) }},
		{"changes[1].dns_record.owner", rule.TooLong, func(b *gnomonv1.Batch) { dns(b).Owner = strings.Repeat("a", MaxOwnerLength+1) }},
	} {
		b := valid()
		tt.spoil(b)
		bad := Validate(b, now)
		require.NotEmpty(t, bad, "%s %s", tt.field, tt.broken)
		require.Equal(t, tt.field, bad[0].Field)
		require.Equal(t, tt.broken, bad[0].Rule)
	}
}

func TestAllAreNamedTogether(t *testing.T) {
	t.Parallel()
	b := valid()
	b.ScheduledAt = nil
	b.Changes[0].GetHttpChange().ApplyUrl = ""
	b.Changes[1].GetDnsRecord().Data = nil
	require.Len(t, Validate(b, now), 3)
}

// What a client may not write does not come through, and microseconds are what is kept.
func TestNormalise(t *testing.T) {
	t.Parallel()
	b := valid()
	b.ScheduledAt.Nanos = 1999
	b.Uid, b.Etag, b.Status = "u", "e", &gnomonv1.BatchStatus{State: gnomonv1.BatchStatus_COMPLETE}
	b.Changes[0].Status = &gnomonv1.ChangeStatus{State: gnomonv1.ChangeStatus_COMPLETE}
	n := Normalise(b)
	require.EqualValues(t, 1000, n.GetScheduledAt().GetNanos())
	require.Empty(t, n.GetUid()+n.GetEtag())
	require.Nil(t, n.GetStatus())
	require.Nil(t, n.GetChanges()[0].GetStatus())
	require.NotNil(t, b.GetChanges()[0].GetStatus(), "a copy")
}
