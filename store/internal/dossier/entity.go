package dossier

import (
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/store"
)

// Entity is an entity as it stands. That of a deleted one stays, without content, so that
// its version and its sequence go on.
type Entity struct {
	Entity  *gnomonv1.Entity
	Deleted bool
	// Sequence is that of the last record.
	Sequence int64
	// CommitID is that of the last record: a store that repeats a transaction, whose
	// answer was lost, knows by it that it was committed.
	CommitID string
}

// Change is what a transaction writes. What is nil or false stays as it is.
type Change struct {
	Entity  *Entity
	States  []*State
	Record  *gnomonv1.SavedRecord
	Request *Request
	EndTurn bool
}

// Request is a request_id and what its first put answered.
type Request struct {
	ID, Digest string
	UsedAt     time.Time
	Result     store.EntityResult
}

// Stands says whether there is an entity.
func (e *Entity) Stands() bool { return e != nil && !e.Deleted }

// MadeBy says whether the last record is that of this commit.
func (e *Entity) MadeBy(commitID string) bool { return e != nil && e.CommitID == commitID }

// LastSequence is that of the last record, 0 if there is none.
func (e *Entity) LastSequence() int64 {
	if e == nil {
		return 0
	}
	return e.Sequence
}

// version is that of what stands, or of its deletion; 0: there was never any.
func (e *Entity) version() int64 {
	if e == nil {
		return 0
	}
	return e.Entity.GetVersion()
}

// KeyOf is what names an entity.
func KeyOf(e *gnomonv1.Entity) store.EntityKey {
	return store.EntityKey{Type: e.GetType(), ID: e.GetId()}
}

// Put decides as PutEntity says. known is the request_id's first use, or nil.
func Put(had *Entity, known *Request, p store.EntityPut, commitID string) (store.EntityResult, Change, error) {
	switch {
	case known != nil && known.Digest != p.Digest:
		return store.EntityResult{}, Change{}, store.ErrRequestReused
	case known != nil:
		return known.Result, Change{}, nil
	case had.Stands() && p.CreateOnly:
		return store.EntityResult{}, Change{}, store.ErrEntityExists
	case p.Version != 0 && (!had.Stands() || p.Version != had.version()):
		return store.EntityResult{}, Change{}, store.ErrVersion
	}
	var change Change
	result := store.EntityResult{Entity: had.entity()}
	if next, fields := had.with(KeyOf(p.Entity), p.Entity.GetContent(), p.At); next != nil {
		change = next.record(&gnomonv1.SavedRecord{Changed: true}, p.At, commitID)
		result = store.EntityResult{Entity: next.Entity, Changed: true, Fields: fields}
	}
	if p.RequestID != "" {
		change.Request = &Request{ID: p.RequestID, Digest: p.Digest, UsedAt: p.At, Result: result}
	}
	return result, change, nil
}

// Delete decides as DeleteEntity says. states are all that the entity has.
func Delete(had *Entity, states []*State, version int64, at time.Time, commitID string) (store.EntityResult, Change, error) {
	switch {
	case !had.Stands():
		return store.EntityResult{}, Change{}, store.ErrNotFound
	case version != 0 && version != had.version():
		return store.EntityResult{}, Change{}, store.ErrVersion
	}
	next, fields := had.without(at)
	change := next.record(&gnomonv1.SavedRecord{Changed: true, Deleted: true}, at, commitID)
	change.States = emptied(states)
	return store.EntityResult{Entity: next.Entity, Changed: true, Fields: fields}, change, nil
}

// entity is what callers see, nil if there is none.
func (e *Entity) entity() *gnomonv1.Entity {
	if !e.Stands() {
		return nil
	}
	return e.Entity
}

// with is the entity with this content and the top-level fields that differ, nil if it
// has that content.
func (e *Entity) with(key store.EntityKey, content *structpb.Struct, at time.Time) (*Entity, []string) {
	if content == nil {
		content = &structpb.Struct{}
	}
	next := &Entity{Entity: &gnomonv1.Entity{
		Type: key.Type, Id: key.ID, Content: proto.CloneOf(content), Version: e.version() + 1,
		CreateTime: timestamppb.New(at), UpdateTime: timestamppb.New(at),
	}}
	next.Sequence = e.LastSequence()
	var before *structpb.Struct
	if e.Stands() {
		before = e.Entity.GetContent()
		next.Entity.CreateTime = e.Entity.GetCreateTime()
	}
	fields := differing(before, content)
	if e.Stands() && len(fields) == 0 {
		return nil, nil
	}
	return next, fields
}

// without is the deleted entity and the top-level fields it had.
func (e *Entity) without(at time.Time) (*Entity, []string) {
	next := &Entity{Deleted: true, Sequence: e.Sequence, Entity: &gnomonv1.Entity{
		Type: e.Entity.GetType(), Id: e.Entity.GetId(), Version: e.version() + 1,
		CreateTime: e.Entity.GetCreateTime(), UpdateTime: timestamppb.New(at),
	}}
	return next, differing(e.Entity.GetContent(), nil)
}

// record gives the entity its next record and says what to write.
func (e *Entity) record(r *gnomonv1.SavedRecord, at time.Time, commitID string) Change {
	e.Sequence++
	e.CommitID = commitID
	r.Entity, r.Sequence, r.CommitTime, r.CommitId = e.Entity, e.Sequence, timestamppb.New(at), commitID
	return Change{Entity: e, Record: r}
}
