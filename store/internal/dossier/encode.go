package dossier

import (
	"encoding/json"
	"fmt"
	"time"

	"google.golang.org/protobuf/proto"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/store"
	"gnomon/store/internal/mirror"
)

// Hash leads the keys of what belongs to an entity, to spread the load.
func Hash(key store.EntityKey) uint64 { return mirror.HashID(key.Type + "/" + key.ID) }

// EntityColumns are an entity as it is stored.
type EntityColumns struct {
	Version, Sequence int64
	Deleted           bool
	CommitID          string
	Entity            []byte // gnomon.v1.Entity
}

// Columns encodes an entity.
func (e *Entity) Columns() (EntityColumns, error) {
	b, err := encode(e.Entity)
	return EntityColumns{Version: e.version(), Sequence: e.Sequence, Deleted: e.Deleted, CommitID: e.CommitID, Entity: b}, err
}

// Decode reads an entity.
func (c EntityColumns) Decode() (*Entity, error) {
	e := &Entity{Entity: &gnomonv1.Entity{}, Deleted: c.Deleted, Sequence: c.Sequence, CommitID: c.CommitID}
	return e, decode(c.Entity, e.Entity)
}

// DecodeEntity reads an entity for callers.
func DecodeEntity(b []byte) (*gnomonv1.Entity, error) {
	e := &gnomonv1.Entity{}
	return e, decode(b, e)
}

// StateColumns are a state as it is stored.
type StateColumns struct {
	Stage, VisitID string
	Gone           bool
	State, Result  []byte // gnomon.v1.StageState, gnomon.workflow.v1.VisitResult
}

// Columns encodes a state.
func (s *State) Columns() (StateColumns, error) {
	c := StateColumns{Stage: s.Stage, VisitID: s.VisitID, Gone: s.Gone}
	var err error
	if c.State, err = encode(s.State); err != nil {
		return c, err
	}
	c.Result, err = encode(s.Result)
	return c, err
}

// Decode reads a state.
func (c StateColumns) Decode() (*State, error) {
	s := &State{Stage: c.Stage, VisitID: c.VisitID, Gone: c.Gone, State: &gnomonv1.StageState{}}
	if c.VisitID != "" {
		s.Result = &workflowv1.VisitResult{}
		if err := decode(c.Result, s.Result); err != nil {
			return nil, err
		}
	}
	return s, decode(c.State, s.State)
}

// TurnColumns are a turn as it is stored.
type TurnColumns struct {
	Holder string
	Until  int64 // microseconds since 1970 UTC
}

// Columns encodes a turn.
func (t *Turn) Columns() TurnColumns {
	return TurnColumns{Holder: t.Holder, Until: t.Until.UnixMicro()}
}

// Decode reads a turn.
func (c TurnColumns) Decode() *Turn { return &Turn{Holder: c.Holder, Until: time.UnixMicro(c.Until)} }

// DecodeSlot reads a slot, which is stored as a turn is.
func (c TurnColumns) DecodeSlot() Slot { return Slot{Holder: c.Holder, Until: time.UnixMicro(c.Until)} }

// RequestColumns are the use of a request_id as it is stored.
type RequestColumns struct {
	Digest  string
	UsedAt  int64 // microseconds since 1970 UTC
	Entity  []byte
	Changed bool
	Fields  string // JSON
}

// Columns encodes the use of a request_id.
func (r *Request) Columns() (RequestColumns, error) {
	c := RequestColumns{Digest: r.Digest, UsedAt: r.UsedAt.UnixMicro(), Changed: r.Result.Changed}
	fields, err := json.Marshal(r.Result.Fields)
	if err != nil {
		return c, fmt.Errorf("the fields that changed cannot be encoded: %w", err)
	}
	c.Fields = string(fields)
	c.Entity, err = encode(r.Result.Entity)
	return c, err
}

// Decode reads the use of a request_id.
func (c RequestColumns) Decode() (*Request, error) {
	r := &Request{Digest: c.Digest, UsedAt: time.UnixMicro(c.UsedAt)}
	r.Result.Changed = c.Changed
	if err := json.Unmarshal([]byte(c.Fields), &r.Result.Fields); err != nil {
		return nil, fmt.Errorf("the stored fields that changed cannot be decoded: %w", err)
	}
	var err error
	r.Result.Entity, err = DecodeEntity(c.Entity)
	return r, err
}

// EncodeRecord encodes a record.
func EncodeRecord(r *gnomonv1.SavedRecord) ([]byte, error) { return encode(r) }

// DecodeRecord reads a record.
func DecodeRecord(b []byte) (*gnomonv1.SavedRecord, error) {
	r := &gnomonv1.SavedRecord{}
	return r, decode(b, r)
}

// EncodeRewalk encodes a walk.
func EncodeRewalk(w *gnomonv1.Rewalk) ([]byte, error) { return encode(w) }

// DecodeRewalk reads a walk.
func DecodeRewalk(b []byte) (*gnomonv1.Rewalk, error) {
	w := &gnomonv1.Rewalk{}
	return w, decode(b, w)
}

// encode never gives nil, which would be stored as NULL.
func encode(m proto.Message) ([]byte, error) {
	b, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("a message %s cannot be encoded: %w", m.ProtoReflect().Descriptor().Name(), err)
	}
	return append([]byte{}, b...), nil
}

func decode(b []byte, into proto.Message) error {
	if err := proto.Unmarshal(b, into); err != nil {
		return fmt.Errorf("a stored message %s cannot be decoded: %w", into.ProtoReflect().Descriptor().Name(), err)
	}
	return nil
}
