package faulty

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// ErrInjected is what every injected failure wraps.
var ErrInjected = errors.New("injected fault of the store")

// Method is one of the methods of store.Store that faults apply to.
type Method string

// Methods. Close is always passed on.
const (
	PutActions   Method = "PutActions"
	InsertAction Method = "InsertAction"
	GetAction    Method = "GetAction"
	ListActions  Method = "ListActions"
	PurgeActions Method = "PurgeActions"
	Ping         Method = "Ping"

	StageBatch   Method = "StageBatch"
	AcceptBatch  Method = "AcceptBatch"
	GetBatch     Method = "GetBatch"
	GetBatchHead Method = "GetBatchHead"
	ListBatches  Method = "ListBatches"
	PutBatch     Method = "PutBatch"
	TakeTurn     Method = "TakeTurn"
	BeginChange  Method = "BeginChange"
	RecordChange Method = "RecordChange"
	PurgeStaged  Method = "PurgeStaged"

	PutNodeActions  Method = "PutNodeActions"
	GetNodeAction   Method = "GetNodeAction"
	ListNodeActions Method = "ListNodeActions"
	PutPlaybook     Method = "PutPlaybook"
	GetPlaybook     Method = "GetPlaybook"
	ListPlaybooks   Method = "ListPlaybooks"

	PurgeNodeActions Method = "PurgeNodeActions"
	PurgePlaybooks   Method = "PurgePlaybooks"

	PutEntity           Method = "PutEntity"
	GetEntity           Method = "GetEntity"
	ListEntities        Method = "ListEntities"
	CountEntities       Method = "CountEntities"
	DeleteEntity        Method = "DeleteEntity"
	GetStageState       Method = "GetStageState"
	UpdateStageState    Method = "UpdateStageState"
	BeginVisit          Method = "BeginVisit"
	KeepTurn            Method = "KeepTurn"
	EndVisit            Method = "EndVisit"
	CommitVisit         Method = "CommitVisit"
	TakeSlot            Method = "TakeSlot"
	ReleaseSlot         Method = "ReleaseSlot"
	TakeToken           Method = "TakeToken"
	Unpublished         Method = "Unpublished"
	Published           Method = "Published"
	Forgotten           Method = "Forgotten"
	PutQueue            Method = "PutQueue"
	PeekQueue           Method = "PeekQueue"
	PutRewalk           Method = "PutRewalk"
	GetRewalk           Method = "GetRewalk"
	PurgeEntityRequests Method = "PurgeEntityRequests"
)

// doubled are the writes that a repetition must not harm; dropped those of the mirror,
// which may be lost.
var (
	doubled = []Method{
		PutActions, InsertAction, StageBatch, AcceptBatch, PutBatch, TakeTurn, BeginChange, RecordChange, PutNodeActions, PutPlaybook,
		PutEntity, DeleteEntity, UpdateStageState, BeginVisit, KeepTurn, EndVisit, CommitVisit, TakeSlot, ReleaseSlot, TakeToken, Published, PutQueue, PutRewalk,
	}
	dropped = []Method{PutActions, InsertAction}
)

// Faults says how the store misbehaves. The zero Faults: not at all. Fractions are
// of calls, 0 for none to 1 for all, each drawn for itself.
type Faults struct {
	// Fail is the fraction that fails before it reaches the store.
	Fail float64
	// LoseReply is the fraction that reaches the store and is done, and whose
	// caller is told that it failed: the reply got lost after the commit.
	LoseReply float64
	// Drop is the fraction of writes (PutActions, InsertAction) that are answered as
	// applied and never done.
	Drop float64
	// Double is the fraction of writes (purges aside) that are done a second time. The caller gets
	// the first answer.
	Double float64
	// Delay passes before each call reaches the store, and up to Jitter more,
	// which shuffles calls that come together. A caller whose context ends
	// meanwhile gets that error, and the call is not made.
	Delay, Jitter time.Duration
	// Only restricts the faults to these methods. Empty: all.
	Only []Method
}

// validate says which field breaks its rule.
func (f Faults) validate() error {
	for name, fraction := range map[string]float64{
		"Fail": f.Fail, "LoseReply": f.LoseReply, "Drop": f.Drop, "Double": f.Double,
	} {
		if !(fraction >= 0 && fraction <= 1) { // NaN is neither
			return fmt.Errorf("Faults.%s must be between 0 and 1, but is %v", name, fraction)
		}
	}
	if f.Delay < 0 || f.Jitter < 0 {
		return fmt.Errorf("Faults.Delay and Faults.Jitter must not be negative, but are %s and %s", f.Delay, f.Jitter)
	}
	return nil
}

// concerns says whether the faults apply to a method.
func (f Faults) concerns(m Method) bool {
	return len(f.Only) == 0 || slices.Contains(f.Only, m)
}
