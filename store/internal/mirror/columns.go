package mirror

import (
	"errors"
	"fmt"
	"hash/fnv"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"gnomon/action"
	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/store"
)

// Unscheduled stands in status_scheduled_at for an action without a next run. It
// is the zero time.Time in microseconds: it comes before all that is legal, and it
// is what store.ActionPosition holds for such a row.
var Unscheduled = time.Time{}.UnixMicro()

// HashID is the first part of the key (seed 001, meta_action_id_hash): FNV-1a 64.
func HashID(id string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(id)) // never fails, by its documentation
	return h.Sum64()
}

// Columns are a row as it is stored: the three blobs and every helper column
// derived from them, so that the two cannot differ (M-45).
type Columns struct {
	Hash        uint64
	ID, GUID    string
	ScheduledAt int64 // microseconds since 1970 UTC, or Unscheduled
	// Encoded messages; nil where there is none, as against an empty one.
	Meta, Spec, Status []byte
	Revision           string // store.Revision.Encode
	Chain              string
	Tombstone          bool
	ExpireAt           time.Time // of a tombstone; otherwise zero
	DeletedBy          string
	State              gnomonv1.Status_State
	Kind               string
	Labels             map[string]string
}

// Derive gives the columns of a row that is written at now; a tombstone expires
// after ttl. An error names the field that cannot be stored.
func Derive(row store.Row, now time.Time, ttl time.Duration) (Columns, error) {
	scheduled := row.Action
	id := scheduled.GetMeta().GetId()
	if id == "" {
		return Columns{}, errors.New("a row's Action.Meta.Id must not be empty")
	}
	at := scheduled.GetStatus().GetScheduledAt()
	if at != nil && !at.IsValid() {
		return Columns{}, fmt.Errorf("the row of %q: Action.Status.ScheduledAt must be in the years 1 to 9999", id)
	}
	c := Columns{
		Hash:        HashID(id),
		ID:          id,
		GUID:        scheduled.GetMeta().GetGuid(),
		ScheduledAt: scheduledMicros(at),
		Revision:    row.Revision.Encode(),
		Chain:       row.Chain,
		Tombstone:   row.Tombstone,
		DeletedBy:   row.DeletedBy,
		State:       scheduled.GetStatus().GetState(),
		Kind:        action.Kind(scheduled.GetSpec().GetAction()),
		Labels:      scheduled.GetMeta().GetLabels(),
	}
	if row.Tombstone {
		c.ExpireAt = now.Add(ttl)
	}
	for _, part := range []struct {
		name    string
		message proto.Message
		blob    *[]byte
	}{
		{"Meta", scheduled.GetMeta(), &c.Meta},
		{"Spec", scheduled.GetSpec(), &c.Spec},
		{"Status", scheduled.GetStatus(), &c.Status},
	} {
		var err error
		if *part.blob, err = blob(part.message); err != nil {
			return Columns{}, fmt.Errorf("the row of %q: Action.%s cannot be encoded: %w", id, part.name, err)
		}
	}
	return c, nil
}

// scheduledMicros is the microsecond that a row's scheduled_at lies in.
func scheduledMicros(at *timestamppb.Timestamp) int64 {
	if at == nil {
		return Unscheduled
	}
	return at.AsTime().UnixMicro()
}

// blob encodes a message: nil for none, and never nil for an empty one.
func blob(m proto.Message) ([]byte, error) {
	if !m.ProtoReflect().IsValid() {
		return nil, nil
	}
	b, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil {
		return nil, err
	}
	return append([]byte{}, b...), nil
}
