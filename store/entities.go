package store

import (
	"context"
	"errors"
	"time"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
)

var (
	// ErrEntityExists says that an entity of this key stands.
	ErrEntityExists = errors.New("an entity of this type and id stands")
	// ErrVersion says that the entity, or a stage's state of it, is not of the version
	// that the caller has seen: what it made of that is stale (G-22).
	ErrVersion = errors.New("the version is no longer the current one")
	// ErrBusy says that another visit has the entity's turn (G-25), or that all slots of
	// the stage are taken (G-33).
	ErrBusy = errors.New("somebody else has the turn")
	// ErrTurnLost says that the turn ran out and is another visit's, or is over.
	ErrTurnLost = errors.New("the turn is over")
	// ErrRequestReused says that a request_id was used before for something else.
	ErrRequestReused = errors.New("the request_id was used for another request")
)

// Entities is where entities live with the states of their stages and the outbox (seed
// 004). Of these the store is the truth; who wants to visit and when is Temporal's. All
// methods are safe for concurrent use and bounded by their context. Each that writes is
// one transaction: entity, state and outbox change together or not at all (G-08). All
// may be called again after an error whose outcome is not known.
type Entities interface {
	EntityContents
	StageStates
	Visits
	Slots
	Outbox
	StageQueues
	Rewalks
}

// EntityContents is the entities themselves.
type EntityContents interface {
	// PutEntity makes an entity or replaces its content. Content that equals what stands
	// changes nothing (Changed is false) and writes no record. ErrEntityExists and
	// ErrVersion by the put's conditions, the latter also where a version is given and there
	// is no entity; ErrRequestReused.
	PutEntity(ctx context.Context, p EntityPut) (EntityResult, error)

	// GetEntity returns an entity, or ErrNotFound.
	GetEntity(ctx context.Context, key EntityKey) (*gnomonv1.Entity, error)

	// ListEntities returns up to q.Limit entities of a type in the order of their ids,
	// those after q.After.
	ListEntities(ctx context.Context, q EntityQuery) ([]*gnomonv1.Entity, error)

	// CountEntities says how many entities of a type there are.
	CountEntities(ctx context.Context, entityType string) (uint64, error)

	// DeleteEntity removes an entity with all states; the version and the sequence of its
	// records go on if it is put again. ErrNotFound, or ErrVersion if version is neither 0
	// nor the current one.
	DeleteEntity(ctx context.Context, key EntityKey, version int64, at time.Time) (EntityResult, error)

	// PurgeEntityRequests removes up to limit request_ids that were used before a time, and
	// says how many.
	PurgeEntityRequests(ctx context.Context, before time.Time, limit int) (int, error)
}

// StageStates is what stages keep beside entities, each for itself (G-07).
type StageStates interface {
	// GetStageState returns a stage's state of an entity: of version 0 where it never had
	// one, while one that was removed goes on counting. ErrNotFound if there is no entity.
	GetStageState(ctx context.Context, key EntityKey, stage string) (*gnomonv1.StageState, error)

	// UpdateStageState replaces a stage's state if its version is u.Version, and says
	// whether it did, with the state that stands then and the entity's version (G-18). It
	// takes no turn: a visit of the stage under way conflicts with it (G-19). A state that
	// equals what stands stays as it is, and counts as replaced. ErrNotFound if there is no
	// entity.
	UpdateStageState(ctx context.Context, u StateUpdate) (StateResult, error)
}

// Visits is the work of stages on entities, one at a time on each (G-21, G-22, G-25).
type Visits interface {
	// BeginVisit takes the entity's turn for a visit, or keeps it, until a time, and
	// returns all that the stage is given, as one moment saw it. ErrBusy if another holder
	// has the turn, be it another attempt of this visit, which may still be at work;
	// ErrNotFound if there is no entity. A visit that was committed already takes no turn:
	// Committed is what became of it (G-11).
	BeginVisit(ctx context.Context, b VisitBegin) (VisitBegun, error)

	// KeepTurn makes a turn last longer; ErrTurnLost if it is no longer the holder's. Who is
	// late has it still, as long as nobody else took it.
	KeepTurn(ctx context.Context, key EntityKey, holder string, until time.Time) error

	// EndVisit gives up a turn without a commit. One that is not the holder's stays as it
	// is.
	EndVisit(ctx context.Context, key EntityKey, holder string) error

	// CommitVisit stores what a stage made of its visit, and ends the turn. ErrTurnLost if
	// the turn is not the holder's, ErrVersion if the entity or the stage's state changed
	// meanwhile, ErrNotFound if the entity is gone; after the last two the turn is the
	// holder's still. A visit that was committed already is not committed again: the result
	// is the first one's.
	CommitVisit(ctx context.Context, c VisitCommit) (*workflowv1.VisitResult, error)
}

// Slots is how many visits a stage has at a time, of all workers together (G-33).
type Slots interface {
	// TakeSlot takes one of the limit slots of a stage until a time, or keeps the holder's
	// own. ErrBusy if none is free (G-33).
	TakeSlot(ctx context.Context, s SlotTake) error

	// ReleaseSlot gives up the holder's slot.
	ReleaseSlot(ctx context.Context, stage, holder string) error

	// TakeToken grants one call of a stage within its rate (G-32), and says from when: now,
	// or soon, within t.Ahead, as calls may be granted before their time. Of any t.Limit + 1
	// that were granted, in the order of their times, the last is t.Span after the first at
	// least, whatever the clocks of those who took them. ErrBusy if there is none so soon;
	// the time is then when there is one by what is granted so far. A name that has a token
	// keeps it, while it is among the last t.Limit ones.
	TakeToken(ctx context.Context, t TokenTake) (time.Time, error)
}

// Outbox is what was committed and is to be published (G-12).
type Outbox interface {
	// Unpublished returns up to limit records of an entity that are not published, in the
	// order of their sequence (G-12).
	Unpublished(ctx context.Context, key EntityKey, limit int) ([]*gnomonv1.SavedRecord, error)

	// Published removes the records of an entity up to this sequence.
	Published(ctx context.Context, key EntityKey, sequence int64) error

	// Forgotten returns up to limit entities that have records committed before a time
	// which are not published, in the order of their keys, those after the given key, each
	// once with the version it has: their workflows may not have been told.
	Forgotten(ctx context.Context, before time.Time, after EntityKey, limit int) ([]EntityVersion, error)
}

// StageQueues is the mirror of who waits for which stage (G-34 to G-36); workflows are the truth.
type StageQueues interface {
	// PutQueue replaces the queue rows of an entity, if its revision is newer than what
	// stands (G-34).
	PutQueue(ctx context.Context, q QueueWrite) error

	// PeekQueue returns up to q.Limit entries of a stage's queue, the oldest first, those
	// after q.After (G-36).
	PeekQueue(ctx context.Context, q QueueQuery) ([]QueueEntry, error)
}

// Rewalks is how far walks through all entities of a type are (G-30).
type Rewalks interface {
	// PutRewalk writes how far the walk of a stage is, if its revision is newer.
	PutRewalk(ctx context.Context, w *gnomonv1.Rewalk, revision Revision) error

	// GetRewalk returns the last walk of a stage, or ErrNotFound.
	GetRewalk(ctx context.Context, stage string) (*gnomonv1.Rewalk, error)
}

// EntityKey names an entity.
type EntityKey struct{ Type, ID string }

// EntityVersion is an entity with the version it has; that of a deleted one is the
// deletion's.
type EntityVersion struct {
	Key     EntityKey
	Version int64
}

// EntityPut is one put.
type EntityPut struct {
	// Entity has type, id and content.
	Entity *gnomonv1.Entity
	// Version is what the caller has seen; 0: any.
	Version int64
	// CreateOnly refuses to replace.
	CreateOnly bool
	// RequestID makes the put idempotent for this entity, Digest tells what it asked for.
	// Empty: it is not.
	RequestID, Digest string
	// At is now.
	At time.Time
}

// EntityResult is what became of a put or a deletion.
type EntityResult struct {
	// Entity as it stands; after a deletion without content, with the deletion's version.
	Entity *gnomonv1.Entity
	// Changed: it is another version now. Also true for a repeated request_id whose first
	// call changed it.
	Changed bool
	// Fields are the top-level fields that differ, sorted; of a new entity all.
	Fields []string
}

// EntityQuery selects entities.
type EntityQuery struct {
	Type string
	// After is the id of the last one of the page before.
	After string
	// Limit is the greatest number, at least 1.
	Limit int
}

// StateUpdate is a compare-and-set of a stage's state.
type StateUpdate struct {
	Key   EntityKey
	Stage string
	// State has the new state in its state field; a nil Any removes it.
	State *gnomonv1.StageState
	// Version is what the caller has seen, 0 for none.
	Version int64
	At      time.Time
}

// StateResult is what became of a compare-and-set.
type StateResult struct {
	Updated bool
	// Current is the state that stands.
	Current *gnomonv1.StageState
	// EntityVersion is that of the entity.
	EntityVersion int64
}

// VisitBegin is a visit that wants the turn.
type VisitBegin struct {
	Key   EntityKey
	Stage string
	// VisitID names the visit, the same for all its attempts.
	VisitID string
	// Holder names the attempt: two attempts of a visit do not share a turn.
	Holder string
	// At is now, and Until the end of the turn unless it is kept.
	At, Until time.Time
}

// VisitBegun is what a stage is given.
type VisitBegun struct {
	// Entity is nil only with Committed, if there is none any more.
	Entity *gnomonv1.Entity
	// State is never nil.
	State *gnomonv1.StageState
	// Committed is the result of a visit that was committed before, else nil.
	Committed *workflowv1.VisitResult
}

// VisitCommit is what a stage made of its visit.
type VisitCommit struct {
	Key   EntityKey
	Stage string
	// VisitID and Holder are those of BeginVisit.
	VisitID, Holder string
	// EntityVersion and StateVersion are what the stage was given.
	EntityVersion, StateVersion int64
	// Content is the new content, nil if it stays. Content that equals what stands counts
	// as nil (G-24).
	Content *gnomonv1.Entity
	// Delete deletes the entity with all states.
	Delete bool
	// State is the new state in its state field, nil if it stays.
	State *gnomonv1.StageState
	// Result has what the store does not look into (timer, keep_timer); version, gone,
	// changed and fields are filled in by the commit, and the whole is kept for CommitVisit
	// and BeginVisit to recognise the visit by, until the stage's next commit.
	Result *workflowv1.VisitResult
	At     time.Time
}

// SlotTake asks for a slot of a stage.
type SlotTake struct {
	Stage, Holder string
	// Limit is how many there are.
	Limit uint32
	// At is now, and Until the end of the slot unless it is kept.
	At, Until time.Time
}

// TokenTake asks for a call within a stage's rate: no more than Limit in any Span.
type TokenTake struct {
	Stage string
	// Name is that of the call.
	Name  string
	Limit uint32
	// Span is in whole microseconds.
	Span time.Duration
	// At is now, and Ahead how long after that the call may be.
	At    time.Time
	Ahead time.Duration
}

// QueueWrite are all queue rows of one entity.
type QueueWrite struct {
	Key      EntityKey
	Revision Revision
	// Entries are at most one for each stage; their Key is not read.
	Entries []QueueEntry
}

// QueueEntry is an entity that waits for a stage.
type QueueEntry struct {
	Key         EntityKey
	Stage       string
	EnqueueTime time.Time
	Background  bool
}

// QueueQuery selects entries of one stage.
type QueueQuery struct {
	Stage string
	// After is the last entry of the page before, or nil.
	After *QueueEntry
	// Limit is the greatest number, at least 1.
	Limit int
}
