package ydb

import (
	"errors"

	"github.com/google/uuid"
	"github.com/ydb-platform/ydb-go-sdk/v3/retry"

	"gnomon/store"
	"gnomon/store/internal/dossier"
)

// errOvertaken says that the answer of a commit was lost, and others have written since:
// whether it was done cannot be seen any more.
var errOvertaken = errors.New("the answer was lost and others have written since: it is not known whether it was done")

// attempt is a call that changes an entity. A transaction whose answer was lost is
// repeated; what names its commit is the same for all repetitions, so that they find that
// it was done and answer as the first one would have.
type attempt struct {
	commitID string
	// unsure says that one that saw this sequence may have been committed.
	unsure bool
	saw    int64
}

func newAttempt() *attempt { return &attempt{commitID: uuid.NewString()} }

// done says whether what stands was made by an earlier repetition.
func (a *attempt) done(had *dossier.Entity) (bool, error) {
	if had.MadeBy(a.commitID) {
		return true, nil
	}
	if a.unsure && had.LastSequence() != a.saw {
		return false, store.Classify(errOvertaken, store.ClassUnavailable)
	}
	return false, nil
}

// commit writes a change of what stands.
func (a *attempt) commit(tx *entityTx, had *dossier.Entity, c dossier.Change) error {
	a.saw = had.LastSequence()
	err := tx.commit(c, "")
	// What the SDK would repeat even if it must not be done twice was not done.
	if err != nil && !retry.Check(err).MustRetry(false) {
		a.unsure = true
	}
	return err
}
